import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CallOrigin } from '#kernel'
import { type Bound, compileBounds, compileRegions } from './bounds.ts'

const words = ['eu', 'us', 'eu-west-1', 'us-east-1']
const bound = fc.subarray([...words, '*'], { minLength: 1 })
const maybe = fc.option(bound, { nil: undefined })
const by = (id: string, own: Bound | undefined) => (own ? { [id]: own } : {})

const originOf = (headers: Record<string, string>): CallOrigin =>
  ({
    principal: { type: 'user', keyId: 'k', userId: 'u', plan: 'free', tenant: 't' },
    context: { project: 'p', headers },
  }) as unknown as CallOrigin

test('a place is open exactly if every list that says something of the call, and the header, open it', () => {
  const settings = { regions: { eu: ['eu-*'], us: ['us-*'] } }
  const isIn = compileRegions(settings.regions)
  const opens = (list: Bound | undefined, region: string): boolean =>
    !list || list.includes('*') || list.some((name) => region === name || region.startsWith(`${name}-`))
  fc.assert(
    fc.property(
      maybe,
      maybe,
      maybe,
      maybe,
      fc.option(fc.subarray(words, { minLength: 1 }), { nil: undefined }),
      fc.subarray(words),
      fc.constantFrom(...words, 'mars'),
      (tenant, user, key, project, header, standard, region) => {
        const boundsOf = compileBounds({
          default: standard,
          tenants: by('t', tenant),
          users: by('u', user),
          keys: by('k', key),
          projects: by('p', project),
        })
        const lists = [tenant, user, key, project]
        const says = lists.some((list) => list) ? lists : [standard.length > 0 ? standard : undefined]
        const isOpen = boundsOf(originOf(header ? { 'x-region': header.join(', ') } : {})).every((one) =>
          isIn(one, region),
        )
        expect(isOpen).toBe([...says, header].every((list) => opens(list, region)))
      },
    ),
  )
})

test.each(['', ' ', 'eu,', 'eu us', '*', 'eu;', 'é', 'x'.repeat(65), Array(11).fill('eu').join()])(
  'the header %j is no list of regions',
  (text) => {
    const none = { default: [], tenants: {}, users: {}, keys: {}, projects: {} }
    expect(() => compileBounds(none)(originOf({ 'x-region': text }))).toThrow('X-Region must name a region')
  },
)
