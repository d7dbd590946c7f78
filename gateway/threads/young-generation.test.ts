import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Starts a thread with these limits in a process with large young generations, and tells the MB that its one grew to. */
const script = (limits: string) => `
  import { Worker } from 'node:worker_threads'
  import { reserveYoungGeneration, youngMbOfCalls } from ${JSON.stringify(new URL('./young-generation.ts', import.meta.url).href)}
  reserveYoungGeneration()
  const thread = \`
    const { getHeapSpaceStatistics } = require('node:v8')
    let kept = []
    for (let n = 0; n < 600_000; n++) kept = n % 20_000 === 0 ? [] : [...kept.slice(0, 0), { n, text: 'x' + n }]
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    require('node:worker_threads').parentPort.postMessage(young.space_size / 2 ** 20)\`
  new Worker(thread, { eval: true, execArgv: [], resourceLimits: ${limits} })
    .on('message', (mb) => { console.log(mb); process.exit() })
`

const youngOf = (limits: string): number => {
  const flags = ['--max-semi-space-size=32', '--min-semi-space-size=32', '--input-type=module', '-e']
  return Number(execFileSync(process.execPath, [...flags, script(limits)], { encoding: 'utf8' }))
}

test('threads that answer calls have the young generation of the first one, and no others', () => {
  expect(youngOf('{ maxYoungGenerationSizeMb: youngMbOfCalls() }')).toBe(64)
  expect(youngOf('{ maxYoungGenerationSizeMb: 12 }')).toBeLessThanOrEqual(8)
})
