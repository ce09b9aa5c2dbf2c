//! Markdown as a page shows it.
//!
//! Comes in: a stored text. Goes out: headings, lists, code and emphasis, made here tag by tag. What the text says in HTML stands there as text;
//! pictures are not loaded and links lead nowhere, both are shown with their address. Never here: a tag or an attribute that the text chose.

use maud::{Markup, PreEscaped, Render as _};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The longest text that is rendered; a longer one is shown as it is.
const MOST: usize = 256 << 10;

/// A text, rendered.
pub(crate) fn rendered(text: &str) -> Markup {
    if text.len() > MOST {
        return maud::html! { pre { (text) } };
    }
    let mut out = String::with_capacity(text.len() * 2);
    let mut addresses: Vec<String> = Vec::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                addresses.push(dest_url.into_string());
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some(address) = addresses.pop() {
                    out.push_str(" <code>");
                    escape(&mut out, &address);
                    out.push_str("</code>");
                }
            }
            Event::Start(tag) => out.push_str(opened(&tag)),
            Event::End(tag) => out.push_str(closed(tag)),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => escape(&mut out, &text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                out.push_str("<code>");
                escape(&mut out, &text);
                out.push_str("</code>");
            }
            Event::SoftBreak => out.push('\n'),
            Event::HardBreak => out.push_str("<br>"),
            Event::Rule => out.push_str("<hr>"),
            Event::FootnoteReference(name) => escape(&mut out, &name),
            Event::TaskListMarker(done) => out.push_str(if done { "[x] " } else { "[ ] " }),
        }
    }
    PreEscaped(out)
}

fn escape(out: &mut String, text: &str) {
    text.render_to(out);
}

/// A memory's headings stand below those of the page.
const fn level(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 0,
        HeadingLevel::H2 => 1,
        _ => 2,
    }
}

fn opened(tag: &Tag<'_>) -> &'static str {
    match tag {
        Tag::Paragraph => "<p>",
        Tag::Heading { level: of, .. } => ["<h3>", "<h4>", "<h5>"][level(*of)],
        Tag::BlockQuote(_) => "<blockquote>",
        Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => "<pre tabindex=\"0\"><code>",
        Tag::HtmlBlock => "<pre>",
        Tag::List(None) => "<ul>",
        Tag::List(Some(_)) => "<ol>",
        Tag::Item => "<li>",
        Tag::Table(_) => "<div class=\"wide\" tabindex=\"0\"><table>",
        Tag::TableHead => "<thead><tr>",
        Tag::TableRow => "<tr>",
        Tag::TableCell => "<td>",
        Tag::Emphasis => "<em>",
        Tag::Strong => "<strong>",
        Tag::Strikethrough => "<del>",
        _ => "",
    }
}

const fn closed(tag: TagEnd) -> &'static str {
    match tag {
        TagEnd::Paragraph => "</p>",
        TagEnd::Heading(of) => match level(of) {
            0 => "</h3>",
            1 => "</h4>",
            _ => "</h5>",
        },
        TagEnd::BlockQuote(_) => "</blockquote>",
        TagEnd::CodeBlock => "</code></pre>",
        TagEnd::HtmlBlock => "</pre>",
        TagEnd::List(false) => "</ul>",
        TagEnd::List(true) => "</ol>",
        TagEnd::Item => "</li>",
        TagEnd::Table => "</table></div>",
        TagEnd::TableHead => "</tr></thead>",
        TagEnd::TableRow => "</tr>",
        TagEnd::TableCell => "</td>",
        TagEnd::Emphasis => "</em>",
        TagEnd::Strong => "</strong>",
        TagEnd::Strikethrough => "</del>",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_rendered_and_html_in_it_stays_text() {
        let shown = rendered("# T\n\n*a* **b** `c<d`\n\n- x\n\n<script>alert(1)</script>\n").into_string();
        assert!(
            shown.contains("<h3>T</h3>") && shown.contains("<em>a</em>") && shown.contains("<li>x"),
            "{shown}"
        );
        assert!(shown.contains("&lt;script&gt;") && !shown.contains("<script"), "{shown}");
    }

    #[test]
    fn a_link_leads_nowhere_and_a_picture_is_not_loaded() {
        let shown = rendered("[x](javascript:alert(1)) ![y](https://a.example/p.png) <https://b.example>")
            .into_string();
        assert!(!shown.contains("href") && !shown.contains("src") && !shown.contains("<img"), "{shown}");
        assert!(shown.contains("<code>https://a.example/p.png</code>"), "{shown}");
    }
}
