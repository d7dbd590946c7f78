import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** Where a run leaves the names of the files that failed, as a list in JSON. */
export const failedFiles = path.resolve('node_modules/.cache/failed-tests.json')

/** Names the files that failed, for `again.ts`; none where something failed that belongs to no file. */
export class Failed implements Reporter {
  onInit(): void {
    rmSync(failedFiles, { force: true })
  }

  onTestRunEnd(files: readonly TestModule[], errors: readonly SerializedError[]): void {
    const failed = errors.length > 0 ? [] : files.filter((file) => !file.ok())
    mkdirSync(path.dirname(failedFiles), { recursive: true })
    writeFileSync(failedFiles, JSON.stringify(failed.map(({ moduleId }) => path.relative('', moduleId))))
  }
}
