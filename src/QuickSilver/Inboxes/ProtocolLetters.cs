using System.Buffers.Binary;
using QuickSilver.Endpoints;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Inboxes;

// The letters of one protocol, to and from the inboxes of nodes. The box has a number that follows from the protocol's guarantee, so it is
// the same on all nodes. Core thread only.
internal sealed class ProtocolLetters : ILetters, ILetterBox
{
    // The letters that wait for room in the queue of this node. A protocol that sends more must wait.
    private const int MostWaiting = 1024;

    // Numbers of boxes from here to 0 are those of protocols.
    private const int FirstBox = int.MinValue;

    private readonly Inbox _inbox;
    private readonly IEndpointNode _node;
    private readonly int _box;
    private readonly ILetterReader _reader;
    private int _waiting;
    private bool _wantsRoom;
    private bool _isClosed;

    /// <param name="inbox">The inbox of the node.</param>
    /// <param name="node">The node.</param>
    /// <param name="protocol">The guarantee of the protocol.</param>
    /// <param name="reader">The reader.</param>
    /// <exception cref="InvalidOperationException">The box is in use.</exception>
    public ProtocolLetters(Inbox inbox, IEndpointNode node, string protocol, ILetterReader reader)
    {
        _inbox = inbox;
        _node = node;
        _box = BoxOf(protocol);
        _reader = reader;
        if (!inbox.TryAdd(_box, this))
        {
            throw new InvalidOperationException(
                $"The letters of the protocol {protocol} are open already, or another protocol has the same box. Open them once, or rename "
                + "the guarantee of one of the protocols.");
        }
    }

    public int MostBytes => Multicast.MulticastOptions.MaxMessageBytes - Inbox.HeaderBytes;

    /// <summary>The box of a protocol, on all nodes.</summary>
    public static int BoxOf(string protocol) => (int)TopicId.Of(protocol) | FirstBox;

    /// <summary>Whether the number is that of a protocol's box.</summary>
    public static bool IsOfProtocol(int box) => box < 0;

    /// <summary>Opens the inbox of this node if it is not open yet.</summary>
    public ProtocolLetters Begin(NodeId self)
    {
        _ = OpenAsync(self);
        return this;
    }

    public bool TrySend(NodeKey to, ReadOnlySpan<byte> letter)
    {
        if (letter.Length > MostBytes)
        {
            throw new ArgumentException($"The letter has {letter.Length:N0} bytes. The limit is {MostBytes:N0}.", nameof(letter));
        }

        if (_waiting >= MostWaiting)
        {
            _wantsRoom = true;
            return false;
        }

        byte[] bytes = new byte[Inbox.HeaderBytes + letter.Length];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, _box);
        letter.CopyTo(bytes.AsSpan(Inbox.HeaderBytes));
        ValueTask sent;
        try
        {
            sent = _inbox.Routes.SendAsync(new NodeId(to.Id, to.Incarnation), bytes);
        }
        catch (MessageTooLargeException)
        {
            // For the packet memory of now.
            OnUndelivered(new NodeId(to.Id, to.Incarnation));
            return true;
        }

        if (!sent.IsCompletedSuccessfully)
        {
            _waiting++;
            _ = WaitAsync(sent, to);
        }

        return true;
    }

    public void Close()
    {
        if (!_isClosed)
        {
            _isClosed = true;
            _inbox.Remove(_box);
        }
    }

    public void OnLetter(NodeId sender, ReadOnlySpan<byte> letter) => _reader.OnLetter(new NodeKey(sender.Id, sender.Incarnation), letter);

    public void OnUndelivered(NodeId to)
    {
        if (!_isClosed)
        {
            _reader.OnUndelivered(new NodeKey(to.Id, to.Incarnation));
        }
    }

    public void OnEnded(Exception error)
    {
        if (!_isClosed)
        {
            _isClosed = true;
            _reader.OnEnded(error);
        }
    }

    private async Task OpenAsync(NodeId self)
    {
        try
        {
            await _inbox.OpenAsync(self, _node.Ended).ConfigureAwait(_node.ResumesInContext);
        }
        catch (Exception exception)
        {
            // Whatever it is, no letter can come, and the protocol is notified instead of waiting.
            _node.Run(() => OnEnded(exception));
        }
    }

    private async Task WaitAsync(ValueTask sent, NodeKey to)
    {
        bool isSent = false;
        try
        {
            await sent.ConfigureAwait(_node.ResumesInContext);
            isSent = true;
        }
        catch (MessageTooLargeException)
        {
            // For the packet memory of now.
        }

        _node.Run(() => OnSent(isSent, to));
    }

    private void OnSent(bool isSent, NodeKey to)
    {
        _waiting--;
        if (!isSent)
        {
            OnUndelivered(new NodeId(to.Id, to.Incarnation));
        }

        if (_wantsRoom && _waiting <= MostWaiting / 2 && !_isClosed)
        {
            _wantsRoom = false;
            _reader.OnRoom();
        }
    }
}
