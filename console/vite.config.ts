import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npx vite console` finds a running server; the built console has only the server that sends it. */
const SERVER = 'http://127.0.0.1:8080';
const toServer = { target: SERVER, changeOrigin: false };

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // The page names its files from the root, which the server prefixes with its base path; scripts find each other by their own address.
  experimental: {
    renderBuiltUrl: (file, { hostType }) => (hostType === 'html' ? `/${file}` : { relative: true }),
  },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    assetsDir: 'assets',
    // Data addresses would be one more thing for the security policy to allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    // How long a plugin took is no warning.
    rolldownOptions: {
      checks: { bundlerTimings: false },
      // What pages share comes in a few files instead of twenty of a kilobyte each: a browser asks for six at a time.
      output: {
        codeSplitting: {
          groups: [
            // Every page needs all of it.
            { name: 'frame', test: /node_modules\/(react|react-dom|scheduler|@tanstack)\// },
            { name: 'parts', test: /console\/src\/(parts|api|app)\//, minShareCount: 2 },
            { name: 'controls', test: /node_modules\/@mantine\//, minShareCount: 4 },
          ],
        },
      },
    },
  },
  server: {
    proxy: { '/v1': toServer, '/api': toServer, '/console/session': toServer, '/console/config': toServer },
  },
});
