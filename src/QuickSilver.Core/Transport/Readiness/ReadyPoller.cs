using System.Net.Sockets;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Transport.Readiness;

// A poller over a system that reports which sockets are ready.
internal abstract class ReadyPoller : IPoller
{
    private readonly PostedSources _posted = new();

    public abstract string Name { get; }

    public PortSource Open(DatagramSocket port, IDatagramReceiver receiver)
    {
        var source = new ReadPortSource(port, receiver);
        Register(port.Socket, source, Interest.Read);
        port.Closing += closing => Unregister(closing.Socket);
        return source;
    }

    public IStreamSocket OpenStream(Socket socket, CompletionSource source) => new ReadyStreamSocket(this, socket, source);

    public IAcceptSocket OpenListener(Socket socket, CompletionSource source) => new ReadyAcceptSocket(this, socket, source);

    public int Wait(TimeSpan timeout, CompletionSource[] completed)
    {
        if (_posted.IsEmpty)
        {
            int ready = WaitReady(timeout, completed);
            return _posted.IsEmpty ? ready : ready + _posted.Take(completed.AsSpan(ready));
        }

        int posted = _posted.Take(completed);
        return posted + (posted < completed.Length ? WaitReady(TimeSpan.Zero, completed.AsSpan(posted)) : 0);
    }

    public abstract void WaitForWake(TimeSpan timeout);

    public void Post(CompletionSource source)
    {
        _posted.Add(source);
        Wake();
    }

    public abstract void Wake();

    public abstract void Dispose();

    internal abstract void Register(Socket socket, CompletionSource source, Interest interest);

    internal abstract void Change(Socket socket, Interest interest);

    /// <summary>Forgets a socket, which must still be open. Does nothing if it is not registered.</summary>
    internal abstract void Unregister(Socket socket);

    /// <summary>Fills the sources of sockets that are ready; how many.</summary>
    protected abstract int WaitReady(TimeSpan timeout, Span<CompletionSource> ready);
}

// What a socket is to be ready for.
[Flags]
internal enum Interest
{
    None = 0,
    Read = 1,
    Write = 4,
}
