import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** API server for `npx vite console`. The built console uses the server that delivers it. */
const SERVER = 'http://127.0.0.1:8080';
const toServer = { target: SERVER, changeOrigin: false };

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // index.html uses absolute paths, which the server prefixes with its base path; scripts import each other by relative paths.
  experimental: {
    renderBuiltUrl: (file, { hostType }) => (hostType === 'html' ? `/${file}` : { relative: true }),
  },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    assetsDir: 'assets',
    // The content security policy does not allow data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      // Shared code goes into a few chunks instead of many small ones: browsers load six files at a time.
      output: {
        codeSplitting: {
          groups: [
            // Needed by every page; the virtualised table by one.
            { name: 'frame', test: /node_modules\/(react|react-dom|scheduler|@tanstack(?!\/(react-)?virtual))\// },
            { name: 'parts', test: /console\/src\/(parts|api|app)\//, minShareCount: 3 },
            { name: 'controls', test: /node_modules\/@mantine\//, minShareCount: 12 },
          ],
        },
      },
    },
  },
  server: {
    proxy: { '/v1': toServer, '/api': toServer, '/console/session': toServer, '/console/config': toServer },
  },
});
