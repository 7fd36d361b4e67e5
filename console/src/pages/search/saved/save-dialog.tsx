import { Modal, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { findFieldError, findOtherErrors } from '../../../api/errors.ts';
import { createSavedSearchConstraints } from '../../../api/generated.ts';
import { useApi } from '../../../app/context.tsx';
import { FormEnd } from '../../../parts/forms/form-end.tsx';
import { notifySuccess } from '../../../parts/messages/notifications.ts';
import type { SavedSearch } from '../queries.ts';
import type { SearchState } from '../use-search-state.ts';
import { toBody } from './saved-search.ts';

interface Props {
  state: SearchState;
  /** Its name and tags are changed; without it, the current search is saved. */
  edited: SavedSearch | undefined;
  /** Why the search has to be saved. */
  purpose?: string | undefined;
  onSaved: (saved: SavedSearch) => Promise<void>;
  onClose: () => void;
}

export function SaveDialog({ state, edited, purpose, onSaved, onClose }: Props) {
  const api = useApi();
  const [name, setName] = useState(edited?.name ?? '');
  const [tags, setTags] = useState(edited?.tags ?? []);
  const save = useMutation({
    mutationFn: () => {
      if (!edited) return api.createSavedSearch({ body: { ...toBody(state), name, tags } });
      const { id, teamId: _team, createdAt: _created, updatedAt: _updated, ...body } = edited;
      return api.updateSavedSearch({ id, body: { ...body, name, tags } });
    },
    async onSuccess(saved) {
      await onSaved(saved);
      notifySuccess(`Saved the search ${saved.name}`);
      onClose();
    },
  });
  const { name: nameRule, tags: tagsRule } = createSavedSearchConstraints;
  return (
    <Modal opened onClose={onClose} title={edited ? 'Name and tags' : 'Save search'} centered>
      <form
        aria-label={edited ? 'Name and tags' : 'Save search'}
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="md">
          {purpose && (
            <Text size="sm" c="dimmed">
              {purpose}
            </Text>
          )}
          <TextInput
            label="Name"
            required
            data-autofocus
            maxLength={nameRule.maxLength}
            value={name}
            error={findFieldError(save.error, 'name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TagsInput
            label="Tags"
            value={tags}
            onChange={setTags}
            maxTags={tagsRule.maxItems}
            error={findFieldError(save.error, 'tags')}
          />
          <FormEnd
            error={findOtherErrors(save.error, ['name', 'tags'])}
            submit="Save"
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}
