import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{kernel,storage,modules,plugins,test,bench}/**/*.test.ts'],
    execArgv: ['--expose-gc'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
