import { Drawer, Skeleton, Text, TextInput } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import classes from '../sql.module.css';

interface Props<T> {
  title: string;
  size?: 'md' | 'lg';
  isOpen?: boolean;
  list: UseQueryResult<T[]>;
  /** The label of the field that filters the list. */
  find: string;
  /** What the field searches. */
  getText: (item: T) => string;
  /** Without any item, and without one that has the text. */
  empty: string;
  noMatch: string;
  renderItem: (item: T) => ReactNode;
  onClose: () => void;
}

/** A list of statements that can be filtered. */
export function ListDrawer<T extends { id: string }>(props: Props<T>) {
  const { title, size = 'md', isOpen = true, list, find, getText, empty, noMatch, renderItem, onClose } = props;
  const [text, setText] = useState('');
  const { data, error, refetch } = list;
  const found = data?.filter((item) => getText(item).toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      title={title}
      position="right"
      size={size}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <TextInput
        mb="sm"
        aria-label={find}
        placeholder={find}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {error ? (
        <ErrorNotice error={error} title={`Could not load the ${title.toLowerCase()}`} retry={() => refetch()} />
      ) : found === undefined ? (
        <Skeleton height={160} />
      ) : found.length === 0 ? (
        <Text size="sm" c="dimmed">
          {data?.length === 0 ? empty : noMatch}
        </Text>
      ) : (
        <ul className={classes.list} aria-label={title}>
          {found.map((item) => (
            <li key={item.id}>{renderItem(item)}</li>
          ))}
        </ul>
      )}
    </Drawer>
  );
}
