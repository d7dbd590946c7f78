import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** The parts of Node's own that are loaded once a process has imported this. */
const loadedBy = (specifier: string): string => {
  const script = `await import(${JSON.stringify(specifier)}); console.log(process.moduleLoadList.join())`
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
}

test("the kernel is imported without Node's fetch and HTTP/2, which its HTTP loads when all names are read", () => {
  const heavy = /internal\/deps\/undici\/undici|internal\/http2/
  expect(loadedBy('node:http')).toMatch(heavy)
  expect(loadedBy(new URL('../boot.ts', import.meta.url).href)).not.toMatch(heavy)
})
