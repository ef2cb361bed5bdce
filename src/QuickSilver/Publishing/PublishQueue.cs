namespace QuickSilver.Publishing;

// The messages of one topic that wait on the core thread until its sender has room, linked in the requests themselves.
//
// Invariants: the requests stand in the order in which they go: as they came, but one that was taken over stands before the first that
// goes later in the lane (PublishRequest.Mark). Both ends are null, or none.
internal sealed class PublishQueue
{
    private PublishRequest? _head;
    private PublishRequest? _tail;

    /// <summary>The oldest; null where nothing waits.</summary>
    public PublishRequest? First => _head;

    /// <summary>The newest came.</summary>
    public void Append(PublishRequest request)
    {
        request.Next = null;
        if (_tail is null)
        {
            _head = request;
        }
        else
        {
            _tail.Next = request;
        }

        _tail = request;
    }

    /// <summary>One came that may not be the newest: its mark says where it goes.</summary>
    public void Insert(PublishRequest request)
    {
        if (_tail is null || _tail.Mark <= request.Mark)
        {
            Append(request);
        }
        else if (_head!.Mark > request.Mark)
        {
            request.Next = _head;
            _head = request;
        }
        else
        {
            var before = _head;
            while (before.Next!.Mark <= request.Mark)
            {
                before = before.Next;
            }

            request.Next = before.Next;
            before.Next = request;
        }
    }

    public void RemoveFirst()
    {
        _head = _head!.Next;
        if (_head is null)
        {
            _tail = null;
        }
    }

    /// <summary>Fails those that were withdrawn, or whose endpoint has ended; gives what they were charged.</summary>
    public long FailEnded()
    {
        long released = 0;
        PublishRequest? kept = null;
        for (var request = _head; request is not null;)
        {
            var next = request.Next;
            if (request.EndedReason is { } reason)
            {
                if (kept is null)
                {
                    _head = next;
                }
                else
                {
                    kept.Next = next;
                }

                released += request.Fail(reason);
            }
            else
            {
                kept = request;
            }

            request = next;
        }

        _tail = kept;
        return released;
    }

    /// <summary>Fails all; gives what they were charged.</summary>
    public long FailAll(Exception reason)
    {
        long released = 0;
        while (_head is { } request)
        {
            RemoveFirst();
            released += request.Fail(reason);
        }

        return released;
    }
}
