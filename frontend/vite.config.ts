import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

/** Django serves what is built: the manifest tells its shell page which files to load. */
export default defineConfig({
  base: '/static/',
  plugins: [react()],
  build: { outDir: 'dist', manifest: true, modulePreload: { polyfill: false }, rollupOptions: { input: 'src/main.tsx' }, assetsInlineLimit: 0 },
  // Files share what they import, with singletons such as i18next: half of the time went into loading it all for each.
  test: {
    isolate: false,
    unstubGlobals: true,
    setupFiles: ['src/test-begin.ts'],
    // Ends what hangs; how long a page takes says more about what runs beside it.
    testTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'pages', environment: 'jsdom', include: ['src/**/*.test.tsx'], setupFiles: ['src/test-setup.ts'] } },
      { extends: true, test: { name: 'logic', environment: 'node', include: ['src/**/*.test.ts'], sequence: { groupOrder: 1 } } },
    ],
  },
})
