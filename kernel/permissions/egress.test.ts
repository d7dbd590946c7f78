import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Egress, type Resolve } from './egress.ts'

/** What names lead to, in the place of a name server. */
const names = new Map<string, readonly string[]>()
const resolve: Resolve = (name, _, done) => {
  const found = (names.get(name) ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  done(found.length > 0 ? null : new Error(`there is no ${name}`), found)
}

let server: Server
let port: number
let met = 0

beforeAll(async () => {
  server = createServer((_, response) => {
    met += 1
    response.end('inside')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})

afterAll(() => {
  server.close()
  server.closeAllConnections()
})

beforeEach(() => {
  names.clear()
  met = 0
})

/** What a plugin that may reach every host gets from this one. */
async function reached(host: string, allow: readonly string[] = []): Promise<string> {
  const dispatcher = new Egress(allow, resolve).agent('asks', ['*'])
  try {
    return await (await request(`http://${host}:${port}/`, { dispatcher })).body.text()
  } finally {
    await dispatcher.destroy()
  }
}

describe('a name with several addresses', () => {
  test.each([
    [['127.0.0.1', '93.184.215.14']],
    [['93.184.215.14', '127.0.0.1']],
    [['93.184.215.14', '2606:2800:21f::1', '::1']],
    [['93.184.215.14', '::ffff:10.0.0.1']],
    [['93.184.215.14', '169.254.169.254']],
  ])('is refused when one of them is inside, wherever it stands: %j', async (addresses) => {
    names.set('two.example', addresses)
    await expect(reached('two.example')).rejects.toThrow(/two\.example is at .*, where plugins may not go/)
    expect(met).toBe(0)
  })

  test('is reached when all that are inside are allowed', async () => {
    names.set('two.example', ['127.0.0.1', '127.0.0.2'])
    await expect(reached('two.example', ['127.0.0.1'])).rejects.toThrow('is at 127.0.0.2')
    expect(await reached('two.example', ['127.0.0.0/8'])).toBe('inside')
    expect(await reached('two.example', ['two.example'])).toBe('inside')
  })
})

test('a name that is nowhere is reached by nobody', async () => {
  await expect(reached('none.example')).rejects.toThrow('there is no none.example')
})
