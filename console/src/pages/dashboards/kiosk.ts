import { useEffect } from 'react';
import './kiosk.css';

/** Takes away everything around the page while it is on. */
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

/** Where the browser refuses, the page alone is what there is. */
export const fillScreen = (): void => {
  document.documentElement.requestFullscreen?.().catch(() => undefined);
};
