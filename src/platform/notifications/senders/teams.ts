import { cutText } from '../../../kernel/text.ts';
import type { Message, Severity } from '../message.ts';

/** Teams rejects messages of more than 28 KB. */
const MAX_BODY_CHARACTERS = 6000;

const COLORS: Readonly<Record<Severity, string>> = {
  critical: 'Attention',
  error: 'Attention',
  warning: 'Warning',
  info: 'Accent',
};

/** An Adaptive Card, for the webhook of a workflow ("Post to a channel when a webhook request is received"). */
export function toTeamsBody({ kind, title, body, link, runbook, severity, name, group }: Message) {
  const facts = [
    { title: 'Name', value: name },
    ...(group === undefined ? [] : [{ title: 'Group', value: cutText(group, MAX_BODY_CHARACTERS / 4) }]),
    { title: 'Severity', value: severity },
  ];
  const actions = [
    ...(link === undefined ? [] : [{ type: 'Action.OpenUrl', title: 'Open', url: link }]),
    ...(runbook === undefined ? [] : [{ type: 'Action.OpenUrl', title: 'Runbook', url: runbook }]),
  ];
  const color = kind === 'resolved' ? 'Good' : COLORS[severity];
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'TextBlock', size: 'Medium', weight: 'Bolder', color, wrap: true, text: title },
            ...(body === '' ? [] : [{ type: 'TextBlock', wrap: true, text: cutText(body, MAX_BODY_CHARACTERS) }]),
            { type: 'FactSet', facts },
          ],
          ...(actions.length > 0 && { actions }),
        },
      },
    ],
  };
}
