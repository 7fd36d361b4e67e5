import { Lexer, Marked, Parser, type Token, type TokensList } from 'marked';

/** Of quotes, lists, links and emphasis in each other: browsers and the renderer read them recursively. */
const MAX_DEPTH = 30;
/** Of one paragraph. The time of the lexer grows with the square of their number. */
const MAX_MARKS = 1000;
const MARKS = /[*_~`[\]!<@&|]/g;
/** The page and the tile use heading levels 1 and 2. */
const HEADINGS_ABOVE = 2;

/** HTML in Markdown is shown as text. */
const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + HEADINGS_ABOVE);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
  },
});

const toText = (raw: string): Token => ({ type: 'text', raw, text: raw, escaped: false });

const hasManyMarks = (text: string): boolean => {
  MARKS.lastIndex = 0;
  let count = 0;
  while (count <= MAX_MARKS && MARKS.test(text)) count++;
  return count > MAX_MARKS;
};

/** What is nested too deeply, and paragraphs with too many marks, are shown as they are written. */
class BoundedLexer extends Lexer {
  private depth = 0;

  override blockTokens(text: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(text: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(text: string, tokens: Token[] = [], isClipped?: boolean): Token[] {
    return this.nest(text, tokens, () => super.blockTokens(text, tokens, isClipped));
  }

  override inlineTokens(text: string, tokens: Token[] = []): Token[] {
    if (hasManyMarks(text)) return this.addText(text, tokens);
    return this.nest(text, tokens, () => super.inlineTokens(text, tokens));
  }

  private nest(text: string, tokens: Token[], read: () => Token[]): Token[] {
    if (this.depth >= MAX_DEPTH) return this.addText(text, tokens);
    this.depth++;
    const found = read();
    this.depth--;
    return found;
  }

  private addText(text: string, tokens: Token[]): Token[] {
    tokens.push(toText(text));
    return tokens;
  }
}

/** The HTML of Markdown, in time in proportion to its length. Links and images still need sanitizing. */
export function toHtml(markdown: string): string {
  return Parser.parse(new BoundedLexer(marked.defaults).lex(markdown), marked.defaults);
}
