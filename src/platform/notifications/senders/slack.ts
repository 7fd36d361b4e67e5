import { cutText } from '../../../kernel/text.ts';
import type { Message } from '../message.ts';

/** Slack rejects a section with more than 3,000 characters. */
const MAX_SECTION_CHARACTERS = 2900;
const MAX_TITLE_CHARACTERS = 600;

/** The characters that Slack gives a meaning to. */
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Cut after escaping, which can make a text five times as long; without the half of an escape at its end. */
const escapeAndCut = (text: string, maxCharacters: number): string =>
  cutText(escapeText(cutText(text, maxCharacters)), maxCharacters).replace(/&\w{0,3}…$/, '…');

const formatLink = (url: string): string =>
  url.replaceAll('<', '%3C').replaceAll('>', '%3E').replaceAll('|', '%7C').replaceAll('&', '&amp;');

export function toSlackBody({ title, body, link }: Message) {
  const shown = escapeAndCut(title, MAX_TITLE_CHARACTERS);
  const head = link === undefined ? `*${shown}*` : `*<${formatLink(link)}|${shown}>*`;
  const rest = escapeAndCut(body, Math.max(100, MAX_SECTION_CHARACTERS - head.length));
  return {
    text: escapeText(title),
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text: rest === '' ? head : `${head}\n${rest}` } }],
  };
}
