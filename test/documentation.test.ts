import { glob, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

/** The commands of a block, each to the end of its line or of a text that it quotes. */
const curls = /\bcurl\b(?:'[^']*'|"(?:\\.|[^"\\])*"|\\\n|[^'"\n])*/g

test('every curl of the pages that sends JSON says so: the gateway answers 415 otherwise', async () => {
  const seen: string[] = []
  const silent: string[] = []
  for await (const page of glob(['*.md', 'docs/**/*.md', 'examples/*/*.md'])) {
    for (const [, block = ''] of (await readFile(page, 'utf8')).matchAll(/^ *```sh\n(.*?)^ *```$/gms))
      for (const [command] of block.matchAll(curls)) {
        if (!/\s(-d|--data|--json)\b/.test(command)) continue
        seen.push(command)
        if (!/content-type: |--json\b/i.test(command)) silent.push(`${page}: ${command}`)
      }
  }
  expect(seen.length).toBeGreaterThan(20)
  expect(silent).toEqual([])
})
