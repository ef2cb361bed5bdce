using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Nodes.Packets;

// The handlers of a node by the kind of packets: those of the multicast layer, which are registered when the node is built, and those of
// protocols and schemes, which are registered when they are first used. Core thread only.
internal sealed class PacketHandlers
{
    // Grows with the first handler of a protocol, because most nodes have none.
    private IPacketHandler?[] _handlers = new IPacketHandler?[(int)PacketKind.Piece + 1];
    // Null until a protocol registers a handler.
    private Dictionary<PacketKind, string>? _owners;
    // By kind, a bit. Data comes before its view as a rule.
    private ulong _early = 1UL << (int)PacketKind.Data;

    /// <summary>The handler of this kind; null if there is none.</summary>
    public IPacketHandler? Find(PacketKind kind) => (int)kind < _handlers.Length ? _handlers[(int)kind] : null;

    /// <summary>Whether packets of this kind are kept and dispatched again if their view is not known yet.</summary>
    public bool KeepsEarly(PacketKind kind) => (_early & (1UL << (int)kind)) != 0;

    /// <summary>Registers the handler of a kind of the multicast layer.</summary>
    /// <param name="kind">The kind. Each has one handler. Data has its handler already.</param>
    /// <param name="handler">The handler.</param>
    /// <param name="keepsEarly">
    /// Whether packets that the handler refuses because their view is unknown are kept and dispatched again.
    /// </param>
    /// <exception cref="ArgumentException">The kind has a handler.</exception>
    public void Register(PacketKind kind, IPacketHandler handler, bool keepsEarly = false)
    {
        if (kind is PacketKind.None or PacketKind.Data or PacketKind.Shared || _handlers[(int)kind] is not null)
        {
            throw new ArgumentException($"The packet kind {kind} already has a handler.", nameof(kind));
        }

        Set(kind, handler, keepsEarly);
    }

    /// <summary>Registers the handler of a kind of a protocol or a scheme.</summary>
    /// <param name="kind">The kind. Each has one handler.</param>
    /// <param name="owner">The protocol or the scheme, for the exception.</param>
    /// <param name="handler">The handler.</param>
    /// <param name="keepsEarly">
    /// Whether packets that the handler refuses because their view is unknown are kept and dispatched again.
    /// </param>
    /// <exception cref="ArgumentException">The kind has a handler, or belongs to the multicast layer.</exception>
    public void Register(PacketKind kind, string owner, IPacketHandler handler, bool keepsEarly = false)
    {
        if (!PacketKinds.IsOfProtocol(kind))
        {
            throw new ArgumentException(
                $"{owner} registers packets of kind {(int)kind}. Kinds of protocols have the numbers {(int)PacketKinds.FirstOfProtocols} "
                + $"to {(int)PacketKinds.Last}.",
                nameof(kind));
        }

        _owners ??= [];
        if (!_owners.TryAdd(kind, owner))
        {
            throw new ArgumentException(
                $"{owner} registers packets of kind {(int)kind}, which belong to {_owners[kind]}. Use another number.", nameof(kind));
        }

        Array.Resize(ref _handlers, PacketKinds.Count);
        Set(kind, handler, keepsEarly);
    }

    private void Set(PacketKind kind, IPacketHandler handler, bool keepsEarly)
    {
        _handlers[(int)kind] = handler;
        _early |= keepsEarly ? 1UL << (int)kind : 0;
    }
}
