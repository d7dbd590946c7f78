import assert from 'node:assert/strict'
import { explain } from '../../kit/explain.ts'
import type { Check } from './checks.ts'
import { runExample } from './example.ts'
import { leavesNothing } from './leaks/index.ts'
import { changesNothingInShadow } from './shadow.ts'
import type { Subject } from './subject.ts'

/** What a module of the chain owes beyond what every plugin does. */
export const moduleChecks: readonly Check[] = [
  {
    name: 'has examples',
    first: true,
    async run(subject) {
      await subject.examples().catch((error: unknown) => {
        throw new Error(`examples.json: ${explain(error)}`)
      })
    },
  },
  {
    name: 'gives back every timer, handle and listener',
    async run(subject) {
      const [example] = await subject.examples()
      await subject.switchOff()
      await leavesNothing(subject.folders, subject.cycles, async () => {
        await subject.switchOn(example!.config)
        await subject.switchOff()
      })
    },
  },
  {
    name: 'does what its examples say, whole and streamed at every cut',
    async run(subject) {
      for (const example of await subject.examples()) {
        await subject.switchOnAfresh(example.config)
        for (const mode of example.modes) {
          await runExample(example, mode, subject.gateway, subject.upstream).catch((error: unknown) => {
            throw new Error(`${example.title} (${mode}): ${(error as Error).message}`, { cause: error })
          })
        }
      }
    },
  },
  {
    name: 'makes a difference: its first example fails without it',
    async run(subject) {
      const [example] = await subject.examples()
      await subject.switchOff()
      const run = runExample(example!, example!.modes[0]!, subject.gateway, subject.upstream)
      await assert.rejects(run, `"${example!.title}" holds with the module switched off: it proves nothing`)
    },
  },
  {
    name: 'changes nothing in shadow, whole and streamed at every cut',
    run: changesNothingInShadow,
  },
  {
    name: 'leaves a stream alone that runs while it is switched off',
    async run(subject) {
      const [example] = await subject.examples()
      const words = Array.from({ length: 12 }, (_, n) => `word${n} `)
      await subject.switchOnAfresh(example!.config)
      subject.upstream.reset()
      // To all calls: some modules make several.
      subject.upstream.reply({ content: words, gapMs: 5, times: Number.POSITIVE_INFINITY })
      const response = await stream(subject)
      await subject.switchOff()
      const text = await response.text()
      if (response.status !== 200 || subject.upstream.requests.length === 0) return
      assert.equal(contentOf(text), words.join(''))
      assert.match(text, /data: \[DONE\]\s*$/)
    },
  },
]

const stream = ({ gateway }: Subject): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'count' }],
      stream: true,
      max_tokens: 500,
    }),
  })

function contentOf(text: string): string {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)).choices[0]?.delta?.content ?? '')
    .join('')
}
