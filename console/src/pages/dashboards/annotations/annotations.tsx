import { Button, Group, Modal, Switch } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { createContext, lazy, type ReactNode, Suspense, use, useCallback, useMemo, useState } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import { plural } from '../../../parts/format/format.ts';
import { type Annotation, annotationsQuery, type TimeWindow } from '../queries.ts';

const AnnotationTable = lazy(() => import('./annotation-table.tsx'));

interface Shown {
  annotations: readonly Annotation[];
  /** Shows all of them as a table. */
  onOpen: () => void;
}

const Context = createContext<Shown | undefined>(undefined);

/** What charts mark; undefined if nothing. */
export const useAnnotations = (): Shown | undefined => use(Context);

interface Props {
  dashboardId: string;
  window: TimeWindow;
  children: ReactNode;
}

/** The annotations of the range for the charts inside, with a switch that hides them and a table of all. */
export function AnnotationsProvider({ dashboardId, window, children }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const [isHidden, setIsHidden] = useLocalStorage({ key: 'pilothouse-annotations-hidden', defaultValue: false });
  const [isOpen, setIsOpen] = useState(false);
  const { data = NONE } = useQuery(annotationsQuery(api, organizationId, dashboardId, window));
  const onOpen = useCallback(() => setIsOpen(true), []);
  const shown = useMemo(() => (isHidden ? undefined : { annotations: data, onOpen }), [isHidden, data, onOpen]);
  return (
    <Context value={shown}>
      {data.length > 0 && (
        <Group gap="md" justify="flex-end">
          <Switch
            size="sm"
            label="Annotations"
            checked={!isHidden}
            onChange={(event) => setIsHidden(!event.currentTarget.checked)}
          />
          <Button size="compact-sm" variant="default" onClick={onOpen}>
            {plural(data.length, 'annotation')}
          </Button>
        </Group>
      )}
      {children}
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} size="xl" title="Annotations">
        <Suspense>
          <AnnotationTable annotations={data} zone={window.zone} />
        </Suspense>
      </Modal>
    </Context>
  );
}

const NONE: readonly Annotation[] = [];
