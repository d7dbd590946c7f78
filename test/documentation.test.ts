import { glob, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { hookNames } from '../kernel/chain/returned.ts'

/** The commands of a page, each with its continued lines and its quoted body. */
function commandsOf(page: string): string[] {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block!)
  return blocks.flatMap((block) => block.replaceAll('\\\n', ' ').split(/^(?=curl )/m))
}

test('commands of the documentation that send JSON say so: without a type it is refused', async () => {
  const pages = ['README.md', ...(await Array.fromAsync(glob('docs/**/*.md')))]
  const all = await Promise.all(
    pages.map(async (page) => commandsOf(await readFile(page, 'utf8')).map((command) => ({ page, command }))),
  )
  const sending = all.flat().filter(({ command }) => /^curl .* (?:-d|--data\S*) /s.test(command))
  expect(sending.length).toBeGreaterThan(10)
  expect(sending.filter(({ command }) => !/content-type: /i.test(command))).toEqual([])
})

test('each hook of modules is described, and none that there is not', async () => {
  const page = await readFile('docs/modules.md', 'utf8')
  const [, table] = /^## Hooks\n(.*?)^## /ms.exec(page)!
  const described = [...table!.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  expect(described.toSorted()).toEqual(hookNames.toSorted())
})
