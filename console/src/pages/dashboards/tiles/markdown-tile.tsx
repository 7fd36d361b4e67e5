import { useMemo } from 'react';
import { ScrollRegion } from '../../../parts/tables/scroll-region.tsx';
import { renderSafeHtml } from './markdown.ts';
import classes from './tiles.module.css';

export default function MarkdownTile({ content }: { content: string }) {
  const html = useMemo(() => renderSafeHtml(content), [content]);
  return (
    <ScrollRegion className={classes.scroll}>
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: sanitized by renderSafeHtml */}
      <div className={classes.markdown} dangerouslySetInnerHTML={{ __html: html }} />
    </ScrollRegion>
  );
}
