import { useMemo } from 'react';
import { ScrollRegion } from '../../../parts/scroll-region.tsx';
import { safeHtml } from './markdown.ts';
import classes from './tiles.module.css';

export default function MarkdownTile({ content }: { content: string }) {
  const html = useMemo(() => safeHtml(content), [content]);
  return (
    <ScrollRegion className={classes.scroll}>
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised just above */}
      <div className={classes.markdown} dangerouslySetInnerHTML={{ __html: html }} />
    </ScrollRegion>
  );
}
