using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Subscriptions;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Topics;

// Endpoints that end in order: see Departures. Each is finished by its last message, or by a waiter whose time is over.
internal sealed partial class TopicCore
{
    // Null while no endpoint leaves.
    private Departures? _departures;

    private bool IsLeavingView => _departures is { IsLeavingView: true };

    public void Abandon(TopicOpening opening)
    {
        if (Node.Contested.Remove(opening))
        {
            return;
        }

        if (_departures?.Postponed.Remove(opening) == true)
        {
            opening.Endpoint.Publication?.LeaveIntake();
        }
        else if (_openings?.Remove(opening) == true)
        {
            opening.Endpoint.Publication?.LeaveIntake();
            ShrinkToMembers();
        }
        else
        {
            Leave(opening.Endpoint);
        }
    }

    public override void BeginLeave(TopicEndpoint endpoint, Action completed)
    {
        bool isEnded = endpoint.State == EndpointState.Failed || !endpoint.Subscribes;
        if (isEnded || Array.IndexOf(_endpoints, endpoint) < 0 || _departures?.Has(endpoint) == true)
        {
            completed();
            return;
        }

        (_departures ??= new Departures()).Add(endpoint, completed);
        if (_departures.Count == _subscribers.Length)
        {
            _departures.IsLeavingView = true;
            AskToLeave();
            return;
        }

        endpoint.Subscription!.LiftBuffer();
        if (!_departures.TryLimit(endpoint, UntakenFor(endpoint)))
        {
            Finish(endpoint);
        }
    }

    public override void EndLeave(TopicEndpoint endpoint)
    {
        if (_departures?.Has(endpoint) == true)
        {
            Finish(endpoint);
        }
    }

    // What is asked for is what the endpoints do that stay.
    private void AskToLeave()
    {
        if (_grant.IsAsking)
        {
            // It is asked again with the answer.
            return;
        }

        if (RoleToAskFor() != TopicRole.None)
        {
            AskIfNeeded();
        }
        else if (!_grant.IsAway)
        {
            _grant.GoAway();
            Node.Membership.Close(Id);
        }

        if (_departures is { IsLeavingView: true, IsAsked: false } && !_grant.Covers(TopicRole.Subscribe))
        {
            _departures.IsAsked = true;
            AwaitLast(_departures);
        }
    }

    // The answers may come when these have ended by their limit and others leave, of which they say nothing.
    private void AwaitLast(Departures departures)
    {
        Node.Membership.WhenApplied(configuration => IfPresent(
            () => _receiver?.AwaitLast(configuration, () => IfPresent(OnSettled), () => IfPresent(OnLast))));

        void IfPresent(Action action)
        {
            if (ReferenceEquals(_departures, departures))
            {
                action();
            }
        }
    }

    // No sender sends to this node any more. What waits for room is all that is left, and is bounded.
    private void OnSettled()
    {
        foreach (var endpoint in _departures?.Endpoints ?? [])
        {
            endpoint.Subscription!.LiftBuffer();
        }

        _receiver?.Resume();
    }

    private void OnLast()
    {
        foreach (var endpoint in _departures?.Endpoints ?? [])
        {
            Finish(endpoint);
        }

        EndStrays();
    }

    private void Finish(TopicEndpoint endpoint)
    {
        endpoint.Subscription!.LiftBuffer();
        if (IsLeavingView)
        {
            _receiver?.Resume();
        }

        var (completed, untaken) = _departures!.Remove(endpoint, UntakenFor(endpoint));
        endpoint.Subscription!.OnLeft(untaken);
        if (!endpoint.Publishes)
        {
            _endpoints = [.. _endpoints.Where(other => other != endpoint)];
        }

        if (_departures.Count == 0 && (!_departures.IsLeavingView || Node.Membership.IsReachable))
        {
            EndDepartures();
        }
        else
        {
            if (_departures.Count == 0)
            {
                // No service learns that this node leaves, so it continues to acknowledge. What comes is counted until it has left, or
                // ends.
                _departures.Strays = new UnhandledMessages();
            }

            OnMembersChanged();
        }

        completed();
    }

    private void EndDepartures()
    {
        var departures = _departures!;
        _departures = null;
        if (departures.IsLeavingView)
        {
            CloseReceiver();
        }

        departures.Strays?.Report(Node, Name);
        (_openings ??= []).AddRange(departures.Postponed);
        _openings = _openings.Count == 0 ? null : _openings;
        ShrinkToMembers();
    }

    private void EndStrays()
    {
        if (_departures is { Strays: not null })
        {
            EndDepartures();
        }
    }

    private void CloseReceiver()
    {
        if (_receiver is not null)
        {
            Node.OnCountEnds(this, isSender: false);
            _receiver.Close();
            _receiver = null;
        }
    }

    private bool IsLeftOut(TopicEndpoint endpoint, in DeliveredMessage message) =>
        IsEcho(endpoint, message) || (_departures is not null && _departures.IsPast(endpoint, message));

    // Not within the call that passes a message on: others may still get it.
    private void NoteTaken(TopicEndpoint endpoint, NodeKey sender, long through)
    {
        if (_departures!.OnTaken(endpoint, sender, through))
        {
            Node.Run(() => EndLeave(endpoint));
        }
    }

    // The node ends, or was removed: endpoints get what has come, and the rest is reported.
    private void HandOver()
    {
        foreach (var endpoint in _subscribers)
        {
            endpoint.Subscription!.LiftBuffer();
        }

        if (_subscribers.Length > 0)
        {
            _receiver?.Resume();
        }

        foreach (var endpoint in _departures?.Endpoints ?? [])
        {
            Finish(endpoint);
        }

        EndStrays();
        foreach (var endpoint in _subscribers)
        {
            endpoint.Subscription!.OnHandedOver(UntakenOf(endpoint));
        }
    }
}
