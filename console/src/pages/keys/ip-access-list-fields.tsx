import { ActionIcon, Button, Group, Input, TextInput } from '@mantine/core';
import { findFieldError } from '../../api/errors.ts';
import { openapiKeyCreateConstraints } from '../../api/generated.ts';
import { useSession } from '../../app/context.tsx';
import { PlusIcon, TrashIcon } from '../../parts/layout/icons.tsx';
import type { Address } from './key-draft.ts';
import classes from './keys.module.css';

interface Props {
  addresses: Address[];
  onChange: (addresses: Address[]) => void;
  error: unknown;
}

/** An empty list allows any address. The server reports errors by row. */
export function IpAccessListFields({ addresses, onChange, error }: Props) {
  const { address: ownAddress } = useSession();
  const add = (source: string, description: string) => {
    const row = Math.max(0, ...addresses.map((address) => address.row)) + 1;
    onChange([...addresses, { row, source, description }]);
  };
  const edit = (row: number, part: Partial<Address>) =>
    onChange(addresses.map((address) => (address.row === row ? { ...address, ...part } : address)));
  return (
    <Input.Wrapper
      labelElement="div"
      label="IP access list"
      description="IPv4 or IPv6 addresses, or ranges such as 10.0.0.0/8. Leave empty to allow any address."
      error={
        findFieldError(error, 'ipAccessList') && addresses.length === 0
          ? findFieldError(error, 'ipAccessList')
          : undefined
      }
    >
      <div className={classes.addresses}>
        {addresses.map(({ row, source, description }, index) => (
          <div key={row} className={classes.address}>
            <TextInput
              aria-label={`Address ${index + 1}`}
              placeholder="10.0.0.0/8"
              spellCheck={false}
              value={source}
              onChange={(event) => edit(row, { source: event.currentTarget.value })}
              error={findFieldError(error, `ipAccessList[${index}].source`)}
            />
            <TextInput
              aria-label={`Description of address ${index + 1}`}
              placeholder="Description"
              maxLength={openapiKeyCreateConstraints.ipAccessList.items.properties.description.maxLength}
              value={description}
              onChange={(event) => edit(row, { description: event.currentTarget.value })}
              error={findFieldError(error, `ipAccessList[${index}].description`)}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              aria-label={`Remove address ${index + 1}`}
              onClick={() => onChange(addresses.filter((address) => address.row !== row))}
            >
              <TrashIcon />
            </ActionIcon>
          </div>
        ))}
      </div>
      <Group gap="xs" mt={8}>
        <Button size="xs" variant="default" leftSection={<PlusIcon size={14} />} onClick={() => add('', '')}>
          Add address
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={addresses.some(({ source }) => source.trim() === ownAddress)}
          onClick={() => add(ownAddress, 'My address')}
        >
          Add my address ({ownAddress})
        </Button>
      </Group>
    </Input.Wrapper>
  );
}
