import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { licences } from '../scripts/licences.mjs';

const lists = /@tanstack[\\/](?:virtual-core|react-virtual)|ui[\\/](?:virtual|scroll)-list\.tsx/;
const dialogs =
  /react-(?:alert-)?dialog|react-focus-|dismissable-layer|remove-scroll|aria-hidden|use-sidecar|style-singleton|ui[\\/](?:dialog|dialog-form|drawer|asked)\.tsx/;
const menus = /react-(?:dropdown-)?menu[\\/]|react-popper|floating-ui|ui[\\/]menu\.tsx/;
const apart = new RegExp(
  [lists, dialogs, menus, /languages[\\/]|@simplewebauthn/].map(({ source }) => source).join('|'),
);

/** Addresses in the page are relative to its `<base>`, which the hub writes (BASE_PATH); nothing is inlined, because the page's policy would refuse it. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react(), tailwindcss(), licences()],
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
          // each small part that two pages share would be a request. What few of them have is a file of its own: lists
          // that scroll, and what opens over a page, which is loaded when it does.
          groups: [
            { name: 'start', tags: ['$initial'], priority: 4 },
            { name: 'shared', test: (id) => !apart.test(id), minShareCount: 3, priority: 3 },
            { name: 'lists', test: lists, priority: 2 },
            { name: 'dialogs', test: dialogs, priority: 2 },
            { name: 'menu', test: menus, priority: 1 },
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
