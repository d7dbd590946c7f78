import { expect, test } from 'vitest'
import type { Provider } from '../../../contract/provider.ts'
import { translation } from '../../../test/translation.ts'
import { ReadyProviders } from './ready-providers.ts'

const { target } = translation({ id: 'acme', provider: { protocol: 'openai' } }, { model: 'm' })
const key = target.key!
const withToken = (token: string): Provider => ({ ...target.provider, headers: { token } })

test('a target goes with what was fetched for its key in the place of the key', () => {
  const ready = new ReadyProviders<string>().ready(target, key, 'a', withToken)
  expect(ready).toEqual({ ...target, provider: withToken('a'), key: undefined })
})

test('the provider is the same object until something else is fetched, whether that is waited for or not', async () => {
  const providers = new ReadyProviders<string>()
  const ready = async (fetched: string | Promise<string>) =>
    (await providers.ready(target, key, fetched, withToken)).provider
  const first = await ready(Promise.resolve('a'))
  expect(await ready('a')).toBe(first)
  expect(await ready('b')).toEqual(withToken('b'))
})
