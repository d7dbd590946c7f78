import { z } from 'zod'
import type { Context } from '#kernel'
import { addLinkRoutes } from './link-routes.ts'
import type { Links } from './links.ts'
import { longestText, newShare, sharedFields, title } from './row.ts'
import type { SecretGate } from './secrets.ts'
import type { Shares } from './shares.ts'

const path = '/api/playground/share'
const name = z.string().min(1).max(256)
const word = z.string().max(1000)

const message = z.strictObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z
    .string()
    .max(longestText)
    .refine((text) => text.isWellFormed(), 'has half a character'),
})

/** A session of the playground: what was said, to which model, with which parameters and modules. */
const session = z.strictObject({
  messages: z
    .array(message)
    .min(1)
    .max(200)
    .refine(
      (all) => all.reduce((sum, { content }) => sum + content.length, 0) <= 3 * longestText,
      `may have ${3 * longestText} characters in all`,
    ),
  model: name,
  provider: name.nullable().default(null),
  params: z
    .record(
      z.string().min(1).max(64),
      z.union([z.number(), z.boolean(), z.null(), word, z.array(word).max(16)]),
    )
    .refine((all) => Object.keys(all).length <= 50, 'may hold 50 parameters')
    .default({}),
  modules: z.array(z.string().min(1).max(100)).max(200).default([]).meta({
    description: 'The names of the modules that the session used.',
  }),
})

const sharedSession = session.extend(sharedFields)

/** Sessions of the playground by link. */
export function addPlaygroundShareRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  shares: Shares,
  links: Links,
  secrets: SecretGate,
): void {
  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Share a session of the playground by link',
    body: session.extend({ title: title.optional() }),
    status: 201,
    returns: newShare,
    throws: [409, 413],
    async handle({ body, principal, ...input }) {
      secrets.check(body)
      const { title, ...content } = body
      return links.of(path, await shares.add(principal!, { kind: 'playground', content, title }), input)
    },
  })

  addLinkRoutes({ route }, shares, links, {
    kind: 'playground',
    path,
    noun: 'session',
    content: session,
    shown: sharedSession,
  })
}
