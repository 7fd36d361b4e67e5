import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

/** A dialog of a page that a link such as `/keys#create` opens too. The hash is removed, so that a reload does not open it again. */
export function useDialogInUrl(name: string): [isOpen: boolean, setIsOpen: (isOpen: boolean) => void] {
  const { hash } = useLocation();
  const navigate = useNavigate();
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    if (hash !== name) return;
    setIsOpen(true);
    void navigate({ to: '.', search: true, replace: true });
  }, [hash, name, navigate]);
  return [isOpen, setIsOpen];
}
