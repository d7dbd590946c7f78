import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startGateway, type TestGateway } from '../harness.ts'
import { startUpstream } from '../upstream/index.ts'
import { schemathesis } from './schemathesis.ts'

/**
 * Sends requests that are generated from the description of the API to a gateway of its own on 127.0.0.1, with no key, a
 * user's and an admin's, and fails on answers with a status of 500 or more, on statuses and on shapes that are not described.
 * `--long` takes minutes and other requests each time; without it the requests are the same ones, within a bounded time.
 * `--install` only installs the tool.
 */

const isLong = process.argv.includes('--long')

/** For all of it, the installation included; a slow machine makes fewer requests in it. */
const budgetS = isLong ? Number.POSITIVE_INFINITY : 70

/** A stream without end, which no tool would see the end of; `plugins/proxy/documented.test.ts` reads it. */
const endless = 'get_api_observe_live'
/** Can switch off the area that has the next operation, and so goes last. */
const destructive = 'put_api_plugins_name'

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
]

const others = ['--exclude-operation-id', endless, '--exclude-operation-id', destructive]
const coverage = ['--phases', 'coverage']
const fuzzing = (examples: number): string[] => ['--phases', 'fuzzing', '--max-examples', String(examples)]

interface Part {
  readonly who: string
  readonly key: string | undefined
  readonly options: readonly string[]
  readonly seconds: number
}

function partsFor(adminKey: string, userKey: string): Part[] {
  const users = [
    { who: 'no key', key: undefined },
    { who: "a user's key", key: userKey },
  ]
  const admin = { who: "an admin's key", key: adminKey }
  const last = {
    ...admin,
    options: ['--include-operation-id', destructive, ...fuzzing(isLong ? 200 : 5)],
    seconds: 6,
  }
  if (isLong) {
    const all = ['--phases', 'coverage,fuzzing', '--max-examples', '100', ...others]
    return [
      ...[...users, admin].map((one) => ({ ...one, options: all, seconds: 120 })),
      { ...last, seconds: 30 },
    ]
  }
  return [
    // One worker each: Python 3.11 fails when two of its threads parse code at a time, as the tool does.
    ...users.map((one) => ({ ...one, options: [...fuzzing(1), ...others], seconds: 9 })),
    { ...admin, options: [...coverage, ...others], seconds: 25 },
    last,
  ]
}

/** All providers but the played one, where nothing listens: what is tried out must not leave this machine. */
async function nowhere(): Promise<Record<string, { readonly base_url: string }>> {
  const folders = await readdir('plugins')
  const manifests = await Promise.all(
    folders.map(async (folder) =>
      JSON.parse(await readFile(path.join('plugins', folder, 'manifest.json'), 'utf8')),
    ),
  )
  const away = manifests.filter(({ id, kind }) => kind === 'provider' && id !== 'openai' && id !== 'mock')
  return Object.fromEntries(away.map(({ id }) => [id, { base_url: 'http://127.0.0.1:1/v1' }]))
}

/** Runs a part; whether it found nothing. Of what it has not done in its time it says so. */
async function passes(
  command: string,
  { who, key, options, seconds }: Part,
  gateway: TestGateway,
  file: string,
): Promise<boolean> {
  const args = [
    ...['run', file, '--url', gateway.url, '--checks', checks.join(','), ...options],
    ...['--continue-on-failure', '--no-shrink', '--warnings', 'off', '--request-timeout', '10'],
    ...['--max-time', String(seconds), ...(isLong ? [] : ['--seed', '1'])],
    ...(key === undefined ? [] : ['--header', `Authorization: Bearer ${key}`]),
  ]
  const env = {
    ...process.env,
    SCHEMATHESIS_HOOKS: 'lines',
    PYTHONPATH: import.meta.dirname,
    PYTHONDONTWRITEBYTECODE: '1',
  }
  const child = spawn(command, args, { cwd: path.dirname(file), env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  const deadline = setTimeout(() => child.kill('SIGKILL'), (seconds + 20) * 1000)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(deadline)
  const summary = /\d+ generated.*/.exec(output)?.[0] ?? output.trim().split('\n').at(-1)
  console.log(`${who}: ${summary}`)
  if (code !== 0) console.log(output)
  return code === 0
}

async function main(): Promise<boolean> {
  const found = await schemathesis()
  if (process.argv.includes('--install')) return true
  if ('missing' in found) {
    console.log(`The description is not tried out with Schemathesis: ${found.missing}.`)
    return true
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-fuzz-'))
  const upstream = await startUpstream()
  const gateway = await startGateway({ upstream, config: { providers: await nowhere() } })
  try {
    const file = path.join(folder, 'openapi.json')
    const { key } = await gateway.signUp('fuzz')
    const { status, body } = await gateway.api('GET', '/api/openapi.json')
    if (status !== 200) throw new Error(`the description cannot be had: ${JSON.stringify(body)}`)
    await writeFile(file, JSON.stringify(body))
    let isFine = true
    const parts = partsFor(gateway.adminKey, key)
    for (const [n, part] of parts.entries()) {
      const share = (budgetS - performance.now() / 1000) / (parts.length - n)
      const seconds = Math.max(2, Math.min(part.seconds, Math.floor(share)))
      isFine = (await passes(found.command, { ...part, seconds }, gateway, file)) && isFine
    }
    if (!isFine) console.log(gateway.logged.join(''))
    return isFine
  } finally {
    await gateway.close()
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  }
}

process.exitCode = (await main()) ? 0 : 1
