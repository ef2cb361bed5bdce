namespace QuickSilver.Core.Transport.Datagrams;

internal enum CallOutcome
{
    Done,
    // No room now: EAGAIN, ENOBUFS, ENOMEM.
    Busy,
    // Not in this shape: too large for the path, or a run where the device cannot cut it (EIO, EINVAL, EMSGSIZE).
    Unfit,
    Refused,
}

// The calls a port makes per datagram; none of them throws or allocates, whatever the system answers.
internal interface IDatagramCalls
{
    const int NothingWaits = int.MinValue;

    CallOutcome Send(ReadOnlySpan<byte> bytes, DatagramAddress destination);

    /// <summary>
    /// Bytes received, NothingWaits, or the negative of the system's error code: the call has cleared the error, ask again.
    /// </summary>
    int Receive(Span<byte> into);

    /// <summary>Sets into how large segments the kernel cuts what is sent; 0 sends whole datagrams.</summary>
    bool TrySetSegmentBytes(int segmentBytes);
}
