import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './app/global.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createSend } from './api/client.ts';
import { fetchConfig } from './api/config.ts';
import { createOperations } from './api/generated.ts';
import { createQueryClient } from './api/queries.ts';
import { createSessionStore } from './api/session.ts';
import { findBase } from './app/base.ts';
import { type AppDependencies, AppProvider } from './app/context.tsx';
import { createConsoleRouter, preloadPage } from './app/router.tsx';
import { cssVariables, theme } from './app/theme.ts';

const base = findBase(import.meta.url);
const sessions = createSessionStore(base);
const dependencies: AppDependencies = {
  base,
  sessions,
  api: createOperations(createSend(base, sessions)),
  config: fetchConfig(base),
};
const queries = createQueryClient();
const router = createConsoleRouter({ ...dependencies, queries });
preloadPage(router);

const element = document.getElementById('root');
if (element) {
  createRoot(element).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
        <QueryClientProvider client={queries}>
          <AppProvider dependencies={dependencies}>
            <Notifications position="bottom-right" />
            <RouterProvider router={router} />
          </AppProvider>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
