import { ActionIcon, Button, CopyButton, Tooltip } from '@mantine/core';
import { CheckIcon, CopyIcon } from '../layout/icons.tsx';

/** Copies a value to the clipboard. `label` names it: "Copy service ID". */
export function CopyIconButton({ value, label }: { value: string; label: string }) {
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label} withArrow>
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label={copied ? 'Copied' : label} onClick={copy}>
            {copied ? <CheckIcon /> : <CopyIcon />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

export function CopyTextButton({ value, children }: { value: string; children: string }) {
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Button variant="default" leftSection={copied ? <CheckIcon /> : <CopyIcon />} onClick={copy}>
          {copied ? 'Copied' : children}
        </Button>
      )}
    </CopyButton>
  );
}
