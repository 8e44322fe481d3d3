import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

/** Django serves what is built: the manifest tells its shell page which files to load. */
export default defineConfig({
  base: '/static/',
  plugins: [react()],
  build: { outDir: 'dist', manifest: true, modulePreload: { polyfill: false }, rollupOptions: { input: 'src/main.tsx' }, assetsInlineLimit: 0 },
  test: { environment: 'node', include: ['src/**/*.test.{ts,tsx}'], setupFiles: ['src/test-setup.ts'] },
})
