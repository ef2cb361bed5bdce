using System.Buffers.Binary;
using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Descriptors;

namespace QuickSilver.Core.Environment;

// The only door through which protocol code reaches time, chance, the network and the disk. Two houses stand behind it: the
// machine (MachineEnvironment) and the simulator. Everything but Post and RunBeside is called on the node's core thread only, and
// every callback (alarms, requests, datagrams, streams, logs) comes on that thread, so protocol code needs no locks.
internal interface INodeEnvironment
{
    /// <summary>Monotonic time since an arbitrary origin; never steps back, unaffected by the wall clock.</summary>
    TimeSpan Now { get; }

    /// <summary>Wall-clock time, for labels and incarnations only: it may step.</summary>
    DateTimeOffset UtcNow { get; }

    /// <summary>The node's one stream of random numbers; seeded in the simulator.</summary>
    ulong NextRandom();

    /// <summary>
    /// Fills in a secret that must not be guessed, such as a key. By default it is drawn from <see cref="NextRandom"/>, which suits
    /// simulations only.
    /// </summary>
    void FillSecret(Span<byte> secret)
    {
        Span<byte> drawn = stackalloc byte[sizeof(ulong)];
        while (!secret.IsEmpty)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(drawn, NextRandom());
            int taken = Math.Min(secret.Length, drawn.Length);
            drawn[..taken].CopyTo(secret);
            secret = secret[taken..];
        }
    }

    /// <summary>What people call the process of this node. From any thread.</summary>
    ProcessLabel Label => ProcessLabel.None;

    /// <summary>The node's pool of packet memory.</summary>
    SlabPool Buffers { get; }

    /// <summary>The heap of the collector.</summary>
    NodeHeap Heap => NodeHeap.OfProcess;

    /// <summary>The address of the interface this node talks through.</summary>
    IPAddress LocalAddress { get; }

    /// <summary>
    /// Whether the machine has <see cref="LocalAddress"/> still. True if the system does not say. An interface that is down has its
    /// addresses.
    /// </summary>
    bool HasLocalAddress => true;

    /// <summary>How many descriptors the process of this node may still open; null where the system shows no limit.</summary>
    DescriptorRoom? Descriptors => null;

    /// <summary>Sets <paramref name="alarm"/> to fire once, <paramref name="delay"/> from now; a pending alarm is moved.</summary>
    void Schedule(Alarm alarm, TimeSpan delay);

    /// <summary>Takes a pending alarm back; does nothing when it is not pending.</summary>
    void Cancel(Alarm alarm);

    /// <summary>Hands work to the core thread. Callable from any thread; lock-free; wakes the core thread when it sleeps.</summary>
    void Post(Request request);

    /// <summary>
    /// Runs code of the application beside the core thread: on the thread pool of a machine, and in a simulation as a step of the node's
    /// process. Callable from any thread; allocates nothing on a machine.
    /// </summary>
    void RunBeside(IThreadPoolWorkItem work) => ThreadPool.UnsafeQueueUserWorkItem(work, preferLocal: false);

    /// <summary>
    /// Puts work off until the end of this turn of the core thread, when all that came is handled; what is deferred at a turn's end
    /// waits for the end of the next turn, so that sockets are read in between. The request may be deferred again as soon as Execute
    /// has begun.
    /// </summary>
    void Defer(WorkClass workClass, Request request);

    /// <summary>The observers of pauses of this node, by a handler, a collection, or because its process did not run.</summary>
    PauseObservers Pauses { get; }

    /// <summary>
    /// All that had reached this node's datagram ports by this time was handed to its receivers. A packet that another node reports may
    /// still wait at a port if it was sent later.
    /// </summary>
    TimeSpan CaughtUpAt => Now;

    /// <summary>Opens a datagram port. Throws <see cref="TransportException"/> when the system refuses.</summary>
    IDatagramPort OpenPort(DatagramPortOptions options, IDatagramReceiver receiver);

    /// <summary>Listens for control streams. Throws <see cref="TransportException"/> when the system refuses.</summary>
    IControlListener Listen(IPEndPoint local, IControlAcceptor acceptor);

    /// <summary>Begins to connect; the outcome arrives at the handler as OnConnected or OnClosed.</summary>
    IControlStream Connect(IPEndPoint remote, IControlStreamHandler handler);

    /// <summary>Whether this node has a storage directory, so that it can open logs. From any thread.</summary>
    bool HasStorage => false;

    /// <summary>
    /// Begins to open a log of this node, which is created if there is none. The outcome arrives at the observer as OnOpened or
    /// OnClosed. The end of the environment is to its logs what the end of the process is.
    /// </summary>
    /// <exception cref="ArgumentException">An option is wrong.</exception>
    /// <exception cref="LogException">This node has no storage directory.</exception>
    INodeLog OpenLog(LogOptions options, ILogObserver observer);

    /// <summary>
    /// Lists the logs of this node, open or not. That one is listed does not mean that it is durable: opening it makes it so. The
    /// callback comes on the core thread, and never within this call.
    /// </summary>
    /// <exception cref="LogException">This node has no storage directory.</exception>
    void ListLogs(Action<LogListing> completed);

    /// <summary>
    /// Deletes a log, durably once the callback comes with null. Of a log that does not exist, too. One that is open, or is being opened,
    /// is not deleted. The callback comes on the core thread, and never within this call.
    /// </summary>
    /// <exception cref="ArgumentException">The name is none.</exception>
    /// <exception cref="LogException">This node has no storage directory.</exception>
    void DeleteLog(string name, Action<LogException?> completed);
}
