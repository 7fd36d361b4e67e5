import { useEffect } from 'react';
import './kiosk.css';

/** Hides the header and navigation. */
export function useKiosk(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return undefined;
    document.documentElement.dataset.kiosk = 'true';
    return () => {
      delete document.documentElement.dataset.kiosk;
      if (document.fullscreenElement) document.exitFullscreen().catch(() => undefined);
    };
  }, [isOn]);
}

/** If the browser rejects full screen, the page still hides the navigation. */
export const requestFullScreen = (): void => {
  document.documentElement.requestFullscreen?.().catch(() => undefined);
};
