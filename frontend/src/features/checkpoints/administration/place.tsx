/** A path is told apart by its end. */
export const Place = ({ path }: { path: string }) => <span className="pw-mono-11 pw-tail" title={path}><bdi>{path}</bdi></span>
