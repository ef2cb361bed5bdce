namespace QuickSilver.Membership.Protocol.Requests;

// Which targets of an inquiry answered one of the echoes that were sent to them, and which of these the first already (bit 0 is the
// first target).
internal readonly record struct EchoesAnswered(ulong Any, ulong First);
