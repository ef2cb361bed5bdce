namespace QuickSilver.Publishing.Requests;

// The messages of one topic that wait on the core thread until its sender has room, linked through the requests themselves.
//
// Invariants: the requests are in the order in which they are sent. This is the order of arrival, except that a request that was taken over
// precedes the first one with a later position in the lane (PublishRequest.Mark). Either both ends are null, or neither.
internal sealed class PublishQueue
{
    private PublishRequest? _head;
    private PublishRequest? _tail;

    /// <summary>The oldest request; null if none waits.</summary>
    public PublishRequest? First => _head;

    /// <summary>Adds the newest request.</summary>
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

    /// <summary>Adds a request that may not be the newest. Its mark determines its position.</summary>
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

    /// <summary>Fails the requests that were withdrawn or whose endpoint has ended. Returns their charge.</summary>
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

    /// <summary>Fails all requests. Returns their charge.</summary>
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
