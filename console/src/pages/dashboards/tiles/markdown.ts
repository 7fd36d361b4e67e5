import createDOMPurify from 'dompurify';
import { toHtml } from './markdown-html.ts';

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
/** No `id`, `name`, `class` or `style`: content must not imitate parts of the console. */
const ALLOWED_ATTR = ['href', 'title', 'alt', 'src', 'align', 'colspan', 'rowspan', 'start'];
/** Allowed link targets: http(s), mailto and this server. Others are removed. */
const LINK = /^(?:https?:|mailto:|\/(?!\/)|#)/i;
/** Only embedded images: loading from other hosts would reveal viewers. */
const IMAGE = /^data:image\/(?:png|jpeg|gif|webp);/i;
const purify = createDOMPurify(window);
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    if (!LINK.test(node.getAttribute('href') ?? '')) node.removeAttribute('href');
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer');
  }
  if (node.tagName === 'IMG' && !IMAGE.test(node.getAttribute('src') ?? '')) {
    node.replaceWith(document.createTextNode(node.getAttribute('alt') ?? ''));
  }
});

/** Renders untrusted Markdown. Links and images still need sanitizing. */
export function renderSafeHtml(markdown: string): string {
  return purify.sanitize(toHtml(markdown), {
    ALLOWED_TAGS,
    ALLOWED_ATTR,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}
