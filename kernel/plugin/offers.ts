import { formOf } from '../../kit/http/path-forms.ts'
import type { Protocol } from '../contract/provider.ts'
import type { Section } from '../contract/section.ts'
import type { LiveRoute } from '../route.ts'
import type { Token } from '../token.ts'
import type { Instance } from './instance.ts'
import { withOnce } from './once.ts'
import { moduleOf } from './plugin-record.ts'
import { pathsOf, WireTable } from './wire-table.ts'

/** The offers of instances, together. Each name is taken once. */
export class Offers {
  readonly routes: LiveRoute[] = []
  readonly protocols = new Map<string, Protocol>()
  readonly services = new Map<Token<unknown>, unknown>()
  readonly sections = new Map<string, Section>()
  wires = new WireTable([])
  readonly #added = new Set<Instance>()
  /** The plugins that have taken names, by the kind of name. */
  readonly #owners = new Map<string, Map<unknown, string>>()

  /** Throws when two of the instances claim the same thing. */
  constructor(instances: readonly Instance[] = []) {
    for (const instance of instances) this.add(instance)
  }

  /** Adds what an instance offers, and what its module has once. Throws when something of it is taken, which makes these useless. */
  add(running: Instance): void {
    for (const instance of withOnce([running])) {
      if (this.#added.has(instance)) continue
      this.#added.add(instance)
      this.#claim(instance)
      this.routes.push(...instance.routes)
      for (const protocol of instance.protocols) this.protocols.set(protocol.id, protocol)
      for (const section of instance.sections) this.sections.set(section.name, section)
      for (const [token, service] of instance.services) this.services.set(token, service)
      this.#addWires(instance)
    }
  }

  #claim({ id, routes, wires, protocols, services, sections }: Instance): void {
    const claims: Readonly<Record<string, readonly unknown[]>> = {
      route: routes.map(({ method, path }) => `${method} ${formOf(path)}`),
      path: wires.flatMap(pathsOf),
      protocol: protocols.map((protocol) => protocol.id),
      section: sections.map(({ name }) => name),
      service: [...services.keys()],
    }
    for (const [what, names] of Object.entries(claims)) {
      const owners = this.#owners.get(what) ?? new Map<unknown, string>()
      this.#owners.set(what, owners)
      for (const name of names) {
        const owner = owners.get(name)
        if (owner !== undefined) throw new Error(refusalOf(id, what, name, owner))
        owners.set(name, id)
      }
    }
  }

  /** A wire answers every POST to its paths, so that no route can have one of them. */
  #addWires({ wires, routes }: Instance): void {
    if (wires.length > 0) this.wires = new WireTable([...this.wires, ...wires])
    for (const { method, path, plugin } of wires.length > 0 ? this.routes : routes) {
      const taken = method === 'post' ? this.wires.covering(path) : undefined
      if (taken !== undefined)
        throw new Error(`${plugin} claims the route POST ${path}, which the wire at ${taken} answers`)
    }
  }
}

function refusalOf(id: string, what: string, name: unknown, owner: string): string {
  const called = typeof name === 'symbol' ? (name.description ?? 'unnamed') : String(name)
  const claim = `${id} claims the ${what} ${called}, which ${owner} has already`
  if (moduleOf(id) !== moduleOf(owner)) return claim
  const binding = id === moduleOf(id) ? owner : id
  return `${claim}; a module with bindings offers it in once. Until it does, it runs only without the binding ${binding}: remove it or switch it off.`
}
