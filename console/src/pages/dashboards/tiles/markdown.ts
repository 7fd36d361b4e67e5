import createDOMPurify from 'dompurify';
import { Marked } from 'marked';

const ALLOWED_TAGS = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote', 'pre', 'code', 'ul', 'ol', 'li'],
  ...[
    'table',
    'thead',
    'tbody',
    'tr',
    'th',
    'td',
    'a',
    'b',
    'i',
    'em',
    'strong',
    'del',
    's',
    'kbd',
    'sub',
    'sup',
    'img',
  ],
];
/** No `id`, `name`, `class` or `style`: text must not be able to pass for a part of the console. */
const ALLOWED_ATTR = ['href', 'title', 'alt', 'src', 'align', 'colspan', 'rowspan', 'start'];
/** Links lead to the web, a mailbox or this server; anything with another scheme leads nowhere. */
const LINK = /^(?:https?:|mailto:|\/(?!\/)|#)/i;
/** Pictures come with the text: no other host learns who looks. */
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);/i;
/** The page and the tile have the first two. */
const HEADINGS_ABOVE = 2;

/** HTML in the text stays text: what is never parsed need not be made harmless. */
const asText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const marked = new Marked({
  gfm: true,
  renderer: { html: ({ text }) => asText(text) },
  walkTokens(token) {
    if (token.type === 'heading') token.depth = Math.min(6, token.depth + HEADINGS_ABOVE);
  },
});

const purify = createDOMPurify(window);
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    if (!LINK.test(node.getAttribute('href') ?? '')) node.removeAttribute('href');
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer');
  }
  if (node.tagName === 'IMG' && !PICTURE.test(node.getAttribute('src') ?? '')) {
    node.replaceWith(document.createTextNode(node.getAttribute('alt') ?? ''));
  }
});

/** Of Markdown that anybody may have written. Sanitised all the same: links and pictures are addresses. */
export function safeHtml(markdown: string): string {
  return purify.sanitize(marked.parse(markdown, { async: false }), {
    ALLOWED_TAGS,
    ALLOWED_ATTR,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}
