// A drawing inside an HTML page: shapes with classes that the page's style colours, and titles that
// browsers show when the pointer rests on a shape.
#pragma once

#include <string>
#include <string_view>

namespace wt::price {

// For text and for attributes in double quotes.
std::string EscapeHtml(std::string_view text);

class Svg {
 public:
  // `label`: what the drawing shows, for screen readers.
  Svg(double width, double height, std::string_view label);
  // `value` stands in the attribute data-value: the number that the shape shows.
  void Rect(double x, double y, double width, double height, std::string_view style,
            std::string_view title, double value);
  void Circle(double x, double y, double radius, std::string_view style, std::string_view title,
              double value);
  void Line(double x1, double y1, double x2, double y2, std::string_view style);
  // `anchor`: start, middle or end.
  void Text(double x, double y, std::string_view anchor, std::string_view style,
            std::string_view text);
  std::string Take();

 private:
  std::string text_;
};

}  // namespace wt::price
