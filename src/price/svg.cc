#include "price/svg.h"

#include <fmt/format.h>

namespace wt::price {

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

Svg::Svg(double width, double height, std::string_view label)
    : text_(fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", width,
                        height, EscapeHtml(label))) {}

void Svg::Rect(double x, double y, double width, double height, std::string_view style,
               std::string_view title, double value) {
  text_ += fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" class=\"{}\" "
      "data-value=\"{}\"><title>{}</title></rect>\n",
      x, y, width, height, style, value, EscapeHtml(title));
}

void Svg::Circle(double x, double y, double radius, std::string_view style, std::string_view title,
                 double value) {
  text_ += fmt::format(
      "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" class=\"{}\" data-value=\"{}\">"
      "<title>{}</title></circle>\n",
      x, y, radius, style, value, EscapeHtml(title));
}

void Svg::Line(double x1, double y1, double x2, double y2, std::string_view style) {
  text_ +=
      fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" class=\"{}\"/>\n",
                  x1, y1, x2, y2, style);
}

void Svg::Text(double x, double y, std::string_view anchor, std::string_view style,
               std::string_view text) {
  text_ +=
      fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x,
                  y, anchor, style, EscapeHtml(text));
}

std::string Svg::Take() { return text_ + "</svg>\n"; }

}  // namespace wt::price
