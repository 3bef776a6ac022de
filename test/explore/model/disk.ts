export interface Disk {
  readonly formation: string;
  readonly memberId: string;
  /** Some write that clients were told is kept is not on it. */
  readonly behind: boolean;
  /** Its log was made in a birth, and its etcd killed before the first entry: it leads none, and follows any. */
  readonly blank?: true;
  /** Which attempts of recoveries have run here: the last of each, as `<id>/<number>`. */
  readonly ran?: readonly string[];
  /** Which attempt of a restore made it, as `<token>/<number>`; absent from the moment an etcd opens it. */
  readonly made?: string;
  /** What a new life was made of lies beside it. */
  readonly kept?: Pick<Disk, 'formation' | 'memberId' | 'behind'>;
  /** Before they got their name, an etcd has served a copy of these data. */
  readonly tried?: true;
}
