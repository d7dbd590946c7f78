import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from 'node:net'
import { request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Egress, type Resolve } from './egress.ts'

/** The addresses of names, in the place of a name server. */
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

/** The answer that a plugin gets from this host, which may reach every host unless some are named. */
async function reached(
  host: string,
  allow: readonly string[] = [],
  hosts: readonly string[] = ['*'],
): Promise<string> {
  const dispatcher = new Egress(allow, resolve).agent('asks', hosts)
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

test('a name at public addresses and allowed ones is reached', async () => {
  names.set('two.example', ['127.0.0.1', '93.184.215.14', '2606:2800:21f::1'])
  expect(await reached('two.example', ['127.0.0.1'])).toBe('inside')
})

test('an allowed name is reached however it is written, and no other name at its address', async () => {
  names.set('one.example', ['127.0.0.1']).set('other.example', ['127.0.0.1'])
  expect(await reached('One.example', ['ONE.example'])).toBe('inside')
  await expect(reached('other.example', ['one.example'])).rejects.toThrow('is at 127.0.0.1 (loopback)')
})

test('an allowed address is that one alone, and a range is of its own kind', async () => {
  names.set('six.example', ['fc00::2'])
  await expect(reached('six.example', ['fc00::1'])).rejects.toThrow('six.example is at fc00::2')
  await expect(reached('six.example', ['10.0.0.0/8', '127.0.0.1'])).rejects.toThrow(
    'six.example is at fc00::2',
  )
  names.set('four.example', ['127.0.0.1'])
  await expect(reached('four.example', ['::/0'])).rejects.toThrow('four.example is at 127.0.0.1')
})

test("the door to a cloud's inside is closed, though its range is a public one", async () => {
  names.set('door.example', ['168.63.129.16'])
  await expect(reached('door.example')).rejects.toThrow('is at 168.63.129.16 (metadata)')
})

test.each([
  ['127.0.0.1', '127.0.0.1 (loopback)'],
  ['[::1]', '::1 (loopback)'],
  ['[::ffff:10.0.0.1]', '10.0.0.1 (private)'],
  ['169.254.169.254', '169.254.169.254 (linkLocal)'],
])('an address in the place of a name is looked at as well: %s', async (host, shown) => {
  await expect(reached(host)).rejects.toThrow(`is at ${shown}`)
  expect(met).toBe(0)
})

test('an address in the place of a name is reached when it is allowed', async () => {
  expect(await reached('127.0.0.1', ['127.0.0.1'])).toBe('inside')
})

test('a plugin reaches the hosts that it has a permission for, and is told of the one that it lacks', async () => {
  names.set('its.example', ['127.0.0.1']).set('other.example', ['127.0.0.1'])
  const allow = ['127.0.0.1']
  expect(await reached('ITS.example', allow, ['its.example'])).toBe('inside')
  await expect(reached('other.example', allow, ['its.example'])).rejects.toThrow('network:other.example')
  expect(met).toBe(1)
})

test('a name is looked at also where Node asks for one address alone', async () => {
  const before = getDefaultAutoSelectFamily()
  onTestFinished(() => setDefaultAutoSelectFamily(before))
  setDefaultAutoSelectFamily(false)
  names.set('one.example', ['127.0.0.1'])
  expect(await reached('one.example', ['127.0.0.1'])).toBe('inside')
  await expect(reached('one.example')).rejects.toThrow('is at 127.0.0.1')
})

test('a name that is nowhere is reached by nobody', async () => {
  await expect(reached('none.example')).rejects.toThrow('there is no none.example')
})
