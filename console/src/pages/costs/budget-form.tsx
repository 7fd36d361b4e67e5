import { Button, Checkbox, Group, Modal, NumberInput, Stack, TagsInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError, findFieldError, findOtherErrors } from '../../api/errors.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { Note } from '../../parts/note.tsx';
import { notifySuccess } from '../../parts/notifications.ts';
import {
  type Budget,
  type BudgetDraft,
  budgetsQuery,
  createBudgetDraft,
  toBudgetDraft,
  toCreateBody,
  toUpdateBody,
} from './budget-draft.ts';
import { WebhookSecret } from './webhook-secret.tsx';

const FIELDS = ['name', 'monthlyCHC', 'thresholds', 'webhook'];

/** For a new budget, or for one that there is. A secret that the server made shows afterwards, and only its own button closes then. */
export function BudgetForm({ of: budget, onClose }: { of?: Budget | undefined; onClose: () => void }) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const [before] = useState<BudgetDraft>(() => (budget ? toBudgetDraft(budget) : createBudgetDraft()));
  const [draft, setDraft] = useState(before);
  const [wasTried, setWasTried] = useState(false);
  const save = useMutation({
    mutationFn: () =>
      budget
        ? api.budgetUpdate({ organizationId, budgetId: budget.id, body: toUpdateBody(draft, before) })
        : api.budgetCreate({ organizationId, body: toCreateBody(draft) }),
    async onSuccess({ name, webhook }) {
      await queries.invalidateQueries({ queryKey: budgetsQuery(api, organizationId).queryKey });
      void queries.invalidateQueries({ queryKey: [organizationId, 'activities'] });
      if (webhook?.secret !== undefined) return;
      notifySuccess(`The budget ${name} is saved`);
      onClose();
    },
  });
  const edit = (part: Partial<BudgetDraft>) => {
    save.reset();
    setDraft((old) => ({ ...old, ...part }));
  };
  const isAmountMissing = draft.monthlyCHC === '';
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setWasTried(true);
    if (!isAmountMissing) save.mutate();
  };
  const error = save.error instanceof ApiError && save.error.status === 401 ? undefined : save.error;
  const general = findOtherErrors(error, FIELDS);
  const madeSecret = save.data?.webhook?.secret;
  const title = budget ? `The budget ${budget.name}` : 'New budget';

  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={madeSecret === undefined ? title : `The secret of ${save.data?.name}`}
      withCloseButton={madeSecret === undefined}
      closeOnClickOutside={false}
      closeOnEscape={madeSecret === undefined}
    >
      {madeSecret !== undefined ? (
        <WebhookSecret secret={madeSecret} onSaved={onClose} />
      ) : (
        <form onSubmit={submit} aria-label={title} noValidate>
          <Stack gap="md">
            <Group gap="md" align="flex-start" grow>
              <TextInput
                label="Name"
                placeholder="Budget"
                maxLength={255}
                data-autofocus
                value={draft.name}
                error={findFieldError(error, 'name')}
                onChange={(event) => edit({ name: event.currentTarget.value })}
              />
              <NumberInput
                label="CHC in a month"
                decimalScale={6}
                thousandSeparator=","
                hideControls
                value={draft.monthlyCHC}
                error={wasTried && isAmountMissing ? 'Say how much may be spent.' : findFieldError(error, 'monthlyCHC')}
                onChange={(monthlyCHC) => edit({ monthlyCHC })}
              />
            </Group>
            <TagsInput
              label="Tells at"
              description="Percent of the budget; each tells once a month and stops nothing"
              placeholder={draft.percents.length === 0 ? 'Add with Enter' : ''}
              maxTags={20}
              value={draft.percents}
              error={findFieldError(error, 'thresholds')}
              onChange={(percents) => edit({ percents })}
            />
            <Checkbox
              label="Tells when the forecast reaches all of it"
              checked={draft.withForecast}
              onChange={(event) => edit({ withForecast: event.currentTarget.checked })}
            />
            <TextInput
              label="Webhook"
              description="Gets a signed POST; without one, the activity alone tells"
              placeholder="https://example.com/hooks/budget"
              spellCheck={false}
              value={draft.url}
              error={findFieldError(error, 'webhook.url')}
              onChange={(event) => edit({ url: event.currentTarget.value })}
            />
            <TextInput
              label="Secret of the webhook"
              description={
                budget?.webhook
                  ? 'Left empty, it stays what it is'
                  : 'Signs what is sent. Left empty, one is made and shown once'
              }
              autoComplete="off"
              spellCheck={false}
              value={draft.secret}
              error={findFieldError(error, 'webhook.secret')}
              onChange={(event) => edit({ secret: event.currentTarget.value })}
            />
            {general && <Note tone="bad">{general}</Note>}
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={save.isPending}>
                {budget ? 'Save' : 'Create'}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
