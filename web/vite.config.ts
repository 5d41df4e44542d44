import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Addresses in the page are relative to its `<base>`, which the hub writes (BASE_PATH); nothing is inlined, because the page's policy would refuse it. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react(), tailwindcss()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // A page is few files: what is there from the start, what several pages share, and its own. Without these,
          // each small part that two pages share would be a request.
          groups: [
            { name: 'start', tags: ['$initial'], priority: 3 },
            // Lists that scroll: not of all pages, so not in what is shared. Neither are menus.
            {
              name: 'lists',
              test: /@tanstack[\\/](?:virtual-core|react-virtual)|ui[\\/](?:virtual|scroll)-list\.tsx/,
              priority: 2,
            },
            {
              name: 'shared',
              test: (id) => !/languages\/|react-(?:dropdown-)?menu\/|ui\/menu\.tsx/.test(id),
              minShareCount: 3,
              priority: 1,
            },
          ],
        },
      },
    },
  },
  server: {
    // `npm run dev:web` beside a running hub.
    proxy: { '/api': 'http://127.0.0.1:3000', '/health': 'http://127.0.0.1:3000' },
  },
});
