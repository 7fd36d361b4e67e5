import { useMemo } from 'react';
import { safeHtml } from './markdown.ts';
import classes from './tiles.module.css';

export default function MarkdownTile({ content }: { content: string }) {
  const html = useMemo(() => safeHtml(content), [content]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={classes.scroll} tabIndex={0}>
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised just above */}
      <div className={classes.markdown} dangerouslySetInnerHTML={{ __html: html }} />
    </section>
  );
}
