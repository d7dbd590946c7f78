import { z } from 'zod'
import { badRequest, type Context, kernelServices, notFound, type Provider } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import {
  keyProblem,
  keyText,
  ProviderDirectory,
  ProviderKeys,
  ProviderProber,
  UnreadableKey,
} from '#provider'
import type { Holder } from '../holder.ts'
import { providerKeyItem } from '../shapes.ts'

const keyBody = z.strictObject({
  api_key: keyText.max(4096).meta({ description: 'Encrypted at rest, and never returned.' }),
})

type View = Omit<z.infer<typeof providerKeyItem>, 'last_verified_at'> & {
  last_verified_at?: string | undefined
}

const itemOf = (view: View): z.infer<typeof providerKeyItem> => ({
  ...view,
  last_verified_at: view.last_verified_at ?? null,
})

/** Provider keys of one kind of holder. */
export function addProviderKeyRoutes({ route, use }: Context<unknown>, holder: Holder): void {
  const stored = () => use(ProviderKeys)
  const { path, access, whose } = holder
  const params = holder.params.provider

  /** Refuses a key that its provider could not take, as far as its form shows. */
  const checkForm = (secret: string, provider: Provider): void => {
    const problem = keyProblem(secret, provider, use(kernelServices.registry).generation.services)
    if (problem !== undefined) {
      throw badRequest(`api_key: ${provider.name}: ${problem}`, { param: 'api_key' })
    }
  }

  /** Refuses what is no provider that takes a key. */
  const providerOf = (name: string) => {
    const directory = use(ProviderDirectory)
    const provider = directory.find(name)
    if (provider && provider.spec.key !== 'none') return provider
    const names = directory.providers.filter(({ spec }) => spec.key !== 'none').map(({ name }) => name)
    throw badRequest(
      `There is no provider called ${name} that takes a key. There are: ${names.sort().join(', ')}.`,
      {
        param: 'provider',
      },
    )
  }

  /** Tries a key and sets its status; says how it went. One that cannot be read is not tried. */
  const checked = async (id: string, provider: Provider): Promise<string> => {
    try {
      const key = await stored().find(id, provider.name)
      if (!key) throw noKey(provider.name)
      const { status, refused, message } = await use(ProviderProber).check(provider, key)
      if (status !== 'down') await stored().mark(id, provider.name, key, 'configured')
      else if (refused) await stored().mark(id, provider.name, key, 'invalid')
      return message
    } catch (error) {
      if (error instanceof UnreadableKey) return error.message
      throw error
    }
  }

  route({
    method: 'get',
    path: `${path}/providers`,
    access,
    summary: `List the providers with ${whose} stored keys`,
    params: holder.params.bare,
    query: listQuery,
    returns: listOf('providers', providerKeyItem),
    async handle(input) {
      const id = await holder.id(input)
      const page = await storedPage(input.query, (window) => stored().list(id, window))
      return listed('providers', shown(page, itemOf), input.query)
    },
  })

  route({
    method: 'put',
    path: `${path}/providers/{provider}`,
    access,
    summary: `Store or replace ${whose} key for a provider`,
    params,
    body: keyBody,
    returns: providerKeyItem,
    async handle(input) {
      const id = await holder.id(input)
      const provider = providerOf(input.params.provider)
      checkForm(input.body.api_key, provider)
      return itemOf(await stored().set(id, provider.name, input.body.api_key))
    },
  })

  route({
    method: 'delete',
    path: `${path}/providers/{provider}`,
    access,
    summary: `Remove ${whose} key for a provider`,
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    async handle(input) {
      const { provider } = input.params
      if (!(await stored().delete(await holder.id(input), provider))) throw noKey(provider)
      return { deleted: true as const, id: provider }
    },
  })

  route({
    method: 'post',
    path: `${path}/providers/{provider}/check`,
    access,
    summary: `Check ${whose} key with a cheap real request to its provider`,
    params,
    returns: providerKeyItem.extend({
      message: z.string().meta({ description: 'Result of the check.' }),
    }),
    async handle(input) {
      const id = await holder.id(input)
      const provider = providerOf(input.params.provider)
      const message = await checked(id, provider)
      const view = await stored().get(id, provider.name)
      if (!view) throw noKey(provider.name)
      return { ...itemOf(view), message }
    },
  })
}

const noKey = (provider: string) => notFound(`No key is stored for ${provider}.`, { param: 'provider' })
