import { Button, Group, Input, NumberInput, Select, TagsInput, Textarea, TextInput } from '@mantine/core';
import { findFieldError } from '../../api/errors.ts';
import { createWebhookConstraints } from '../../api/generated.ts';
import { type Channel, SERVICE_LABELS } from '../../parts/channels/channels.ts';
import { type NameValue, NameValueFields } from '../../parts/forms/name-values.tsx';
import { type ChannelDraft, hasMember } from './channel-draft.ts';

const URL_EXAMPLES: Readonly<Record<Channel['service'], string>> = {
  generic: 'https://example.com/hooks/alerts',
  slack: 'https://hooks.slack.com/services/…',
  teams: 'https://….webhook.office.com/…',
  pagerduty: 'https://events.pagerduty.com/v2/enqueue',
  email: '',
  incidentio: 'https://api.incident.io/v2/alert_events/http/…',
};

interface Props {
  /** Left out: a new channel. */
  channel: Channel | undefined;
  draft: ChannelDraft;
  error: unknown;
  onChange: (part: Partial<ChannelDraft>) => void;
}

/** The fields that the service of a channel has. */
export function ChannelFields({ channel, draft, error, onChange }: Props) {
  const errorAt = (path: string) => findFieldError(error, path);
  const isSameReceiver = channel?.service === draft.service && (channel.url ?? '') === draft.url.trim();
  const stored = channel && isSameReceiver;
  return (
    <>
      <Select
        label="Service"
        data={Object.entries(SERVICE_LABELS).map(([value, label]) => ({ value, label }))}
        allowDeselect={false}
        value={draft.service}
        error={errorAt('service')}
        onChange={(service) => onChange({ service: service as Channel['service'] })}
      />
      <TextInput
        label="Name"
        maxLength={createWebhookConstraints.name.maxLength}
        data-autofocus
        value={draft.name}
        error={errorAt('name')}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      {hasMember(draft, 'routingKey') && (
        <TextInput
          label="Routing key"
          description={stored ? 'Leave empty to keep the current key.' : 'Integration key of the Events API v2'}
          type="password"
          autoComplete="off"
          maxLength={createWebhookConstraints.routingKey.maxLength}
          value={draft.routingKey}
          error={errorAt('routingKey')}
          onChange={(event) => onChange({ routingKey: event.currentTarget.value })}
        />
      )}
      {hasMember(draft, 'url') && (
        <TextInput
          label="URL"
          description={draft.service === 'pagerduty' ? 'Only for the service region of the EU, or a proxy' : undefined}
          placeholder={URL_EXAMPLES[draft.service]}
          spellCheck={false}
          maxLength={createWebhookConstraints.url.maxLength}
          value={draft.url}
          error={errorAt('url')}
          onChange={(event) => onChange({ url: event.currentTarget.value })}
        />
      )}
      {hasMember(draft, 'to') && (
        <TagsInput
          label="Addresses"
          description="Press Enter after each address"
          maxTags={createWebhookConstraints.to.maxItems}
          value={draft.to}
          error={errorAt('to')}
          onChange={(to) => onChange({ to })}
        />
      )}
      {hasMember(draft, 'body') && (
        <Textarea
          label="Body"
          description={
            channel?.service === 'incidentio'
              ? 'A Handlebars template. It is not shown again: enter it, or the default is used'
              : 'A Handlebars template. Default: a JSON document with the message'
          }
          autosize
          minRows={2}
          maxRows={12}
          maxLength={createWebhookConstraints.body.maxLength}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
          value={draft.body}
          error={errorAt('body')}
          onChange={(event) => onChange({ body: event.currentTarget.value })}
        />
      )}
      {hasMember(draft, 'headers') && (
        <SecretFields
          label="Headers"
          item="header"
          values={draft.headers}
          isKept={stored === true}
          error={errorAt('headers')}
          onChange={(headers) => onChange({ headers })}
        />
      )}
      {hasMember(draft, 'queryParams') && (
        <SecretFields
          label="Query parameters"
          item="parameter"
          values={draft.queryParams}
          isKept={stored === true}
          error={errorAt('queryParams')}
          onChange={(queryParams) => onChange({ queryParams })}
        />
      )}
      {hasMember(draft, 'timeoutSeconds') && (
        <NumberInput
          label="Timeout in seconds"
          description="How long the receiver may take to respond. Default: 10"
          allowDecimal={false}
          min={createWebhookConstraints.timeoutSeconds.minimum}
          max={createWebhookConstraints.timeoutSeconds.maximum}
          value={draft.timeoutSeconds}
          error={errorAt('timeoutSeconds')}
          onChange={(value) => onChange({ timeoutSeconds: value === '' ? '' : Number(value) })}
        />
      )}
      <TextInput
        label="Description"
        maxLength={createWebhookConstraints.description.maxLength}
        value={draft.description}
        error={errorAt('description')}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
    </>
  );
}

interface SecretFieldsProps {
  label: string;
  item: string;
  values: NameValue[] | undefined;
  /** Without values: the stored ones stay; else the server removes them with the change of the receiver. */
  isKept: boolean;
  error: string | undefined;
  onChange: (values: NameValue[]) => void;
}

/** Names and values that the server never shows again. */
function SecretFields({ label, item, values, isKept, error, onChange }: SecretFieldsProps) {
  if (values)
    return (
      <NameValueFields
        label={label}
        description="The values are never shown again."
        item={item}
        isSecret
        values={values}
        error={error}
        onChange={onChange}
      />
    );
  return (
    <Input.Wrapper
      labelElement="div"
      label={label}
      description={
        isKept ? 'The stored values are kept.' : 'The stored values are removed, because the receiver changes.'
      }
      error={error}
    >
      <Group mt={6}>
        <Button size="compact-sm" variant="default" onClick={() => onChange([])}>
          Replace {label.toLowerCase()}
        </Button>
      </Group>
    </Input.Wrapper>
  );
}
