using System.Net.Sockets;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Transport.Overlapped;

// A port whose receives are under way before anything comes, each into a block of packet memory.
//
// A receive that has ended is begun again only when the core thread has taken all that has ended and asks for more. So a core thread that
// is behind, or has no memory, leaves datagrams in the kernel, but for those that the receives under way still take. While datagrams wait
// in the kernel, receives end within their calls: one call for each run, as on other systems.
//
// Invariant: the system fills receives in the order in which they were begun, and they are taken in that order. Their ends may be seen in
// another: one ends within its call while the entry of the one before it still waits at the port.
internal sealed unsafe class OverlappedPortSource : PortSource, IOverlappedOwner
{
    // One is filled while the other is taken. Each holds a block while nothing comes.
    private const int Receives = 2;
    private const int ControlBytes = 64;

    private readonly CompletionPortPoller _poller;
    private readonly DatagramSocket _port;
    private readonly ReceiveOperation[] _receives = new ReceiveOperation[Receives];
    // In the order in which they were begun.
    private readonly Queue<ReceiveOperation> _begun = new(Receives);

    public OverlappedPortSource(CompletionPortPoller poller, DatagramSocket port, IDatagramReceiver receiver)
        : base(receiver)
    {
        _poller = poller;
        _port = port;
        for (int i = 0; i < Receives; i++)
        {
            _receives[i] = new ReceiveOperation(this, port.Socket);
        }

        port.Closing += _ => Close();
        poller.NoteDue(this);
    }

    public override IDatagramPort Port => _port;

    public override bool IsClosed => _port.IsClosed;

    public CompletionSource Source => this;

    public bool IsDue => !IsClosed && (!_begun.TryPeek(out var first) || first.IsEnded);

    public void OnEnded(OverlappedOperation operation)
    {
    }

    public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
    {
        completion = default;
        if (IsClosed)
        {
            return TakeOutcome.Nothing;
        }

        if (_begun.TryPeek(out var first) && first.IsEnded)
        {
            completion = TakeFirst(memory);
            return TakeOutcome.Taken;
        }

        return BeginReceives(memory, out completion);
    }

    private Completion TakeFirst(RunMemory memory)
    {
        var receive = _begun.Dequeue();
        receive.Take();
        if (receive.Error != SocketError.Success)
        {
            return Error(receive.Error);
        }

        _port.CountRun(receive.Bytes);
        var block = receive.Block;
        var run = memory.Place(ref block, receive.Bytes);
        receive.Block = block;
        return new Completion(this, run);
    }

    private TakeOutcome BeginReceives(RunMemory memory, out Completion completion)
    {
        completion = default;
        foreach (var receive in _receives)
        {
            if (!receive.IsIdle)
            {
                continue;
            }

            receive.Block ??= memory.TryRentBlock();
            if (receive.Block is null)
            {
                return _begun.Count == 0 ? TakeOutcome.NoMemory : TakeOutcome.Nothing;
            }

            _poller.Begin(receive);
            var answer = _poller.Calls.ReceiveMessage(receive.Socket, receive.Prepare(), receive.Header);
            if (!_poller.HasBegun(receive, answer))
            {
                completion = Error(answer);
                return TakeOutcome.Taken;
            }

            _begun.Enqueue(receive);
            if (_begun.Peek().IsEnded)
            {
                completion = TakeFirst(memory);
                return TakeOutcome.Taken;
            }
        }

        return TakeOutcome.Nothing;
    }

    private Completion Error(SocketError error)
    {
        _port.CountError();
        return new Completion(this, CompletionKind.Error, (int)error);
    }

    private void Close()
    {
        _begun.Clear();
        foreach (var receive in _receives)
        {
            _poller.End(receive);
        }
    }

    private sealed class ReceiveOperation(IOverlappedOwner owner, Socket socket)
        : OverlappedOperation(owner, socket, sizeof(OverlappedMessage) + sizeof(BufferPart) + ControlBytes)
    {
        /// <summary>Whole, pinned, and the system's while the operation is under way.</summary>
        public Lease? Block { get; set; }

        public OverlappedMessage* Prepare()
        {
            var message = (OverlappedMessage*)Extra;
            var part = (BufferPart*)(message + 1);
            var block = Block!;
            part->Length = SlabPool.BlockBytes;
            part->Bytes = block.Address;
            *message = new OverlappedMessage
            {
                Parts = part,
                PartCount = 1,
                // Into how long segments a run is cut comes with it; the packets of a run contain their own lengths.
                Control = new BufferPart { Length = ControlBytes, Bytes = (byte*)(part + 1) },
            };
            return message;
        }

        protected override void OnFreed()
        {
            Block?.Release();
            Block = null;
        }
    }
}
